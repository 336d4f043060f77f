//! Records of a bench, as the lines of an import.

use std::{
    fs::File,
    io::{BufReader, BufWriter, Seek as _, Write as _},
    net::{IpAddr, Ipv6Addr},
};

use jiff::Timestamp;
use sallyport_server::domain::token::Token;
use serde_json::{Value, json};

/// The sample data has its ids below this one.
const SAMPLE_IDS: u64 = 1 << 40;

/// Address of the instance with this number; consecutive numbers are far apart.
pub(crate) fn address(number: u64) -> IpAddr {
    Ipv6Addr::from((0x2001_0db8 << 96) | u128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))).into()
}

/// A temporary file with an account, its token and that many instances.
pub(crate) fn import_file(account: &str, token: &Token, instances: u64) -> BufReader<File> {
    let mut file = BufWriter::with_capacity(1 << 16, tempfile::tempfile().unwrap());
    let mut write = |record: Value| {
        serde_json::to_writer(&mut file, &record).unwrap();
        file.write_all(b"\n").unwrap();
    };
    write(json!({"account": {"name": account, "realNameVerified": true}}));
    write(json!({"token": {
        "account": account, "sha256": token.digest().to_hex(), "kind": "api", "createdAt": Timestamp::UNIX_EPOCH,
    }}));
    for number in 1..=instances {
        write(json!({"instance": {
            "account": account, "orderNo": format!("SO-{}", number / 100), "instanceId": SAMPLE_IDS + number,
            "offerId": 1, "status": "active", "ip": address(number), "port": 20_001, "protocols": ["http", "socks5"],
            "countryCode": "USA", "cityCode": "NYC", "ispType": 1, "expiresAt": null,
            "activatedAt": Timestamp::UNIX_EPOCH, "capabilities": {}, "groupId": null, "username": "user",
            "password": null,
        }}));
    }
    let mut file = file.into_inner().unwrap();
    file.rewind().unwrap();
    BufReader::with_capacity(1 << 16, file)
}
