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

/// A temporary file of records.
pub(crate) struct ImportFile(BufWriter<File>);

impl ImportFile {
    pub(crate) fn new() -> Self {
        Self(BufWriter::with_capacity(1 << 16, tempfile::tempfile().unwrap()))
    }

    fn write(&mut self, record: &Value) {
        serde_json::to_writer(&mut self.0, record).unwrap();
        self.0.write_all(b"\n").unwrap();
    }

    pub(crate) fn account(&mut self, name: &str) {
        self.write(&json!({"account": {"name": name, "realNameVerified": true}}));
    }

    pub(crate) fn token(
        &mut self,
        account: &str,
        token: &Token,
        expires_at: Option<Timestamp>,
        revoked_at: Option<Timestamp>,
    ) {
        self.write(&json!({"token": {
            "account": account, "sha256": token.digest().to_hex(), "kind": "api", "createdAt": Timestamp::UNIX_EPOCH,
            "expiresAt": expires_at, "revokedAt": revoked_at,
        }}));
    }

    pub(crate) fn instance(&mut self, account: &str, number: u64) {
        self.write(&json!({"instance": {
            "account": account, "orderNo": format!("SO-{}", number / 100), "instanceId": SAMPLE_IDS + number,
            "offerId": 1, "status": "active", "ip": address(number), "port": 20_001, "protocols": ["http", "socks5"],
            "countryCode": "USA", "cityCode": "NYC", "ispType": 1, "expiresAt": null,
            "activatedAt": Timestamp::UNIX_EPOCH, "capabilities": {}, "groupId": null, "username": "user",
            "password": null,
        }}));
    }

    /// The file from its beginning.
    pub(crate) fn finish(self) -> BufReader<File> {
        let mut file = self.0.into_inner().unwrap();
        file.rewind().unwrap();
        BufReader::with_capacity(1 << 16, file)
    }
}
