//! Records of a bench, as the lines of an import.

use std::{
    fs::File,
    io::{BufReader, BufWriter, Seek as _, Write as _},
    net::{IpAddr, Ipv6Addr},
};

use jiff::Timestamp;
use sallyport_server::{
    domain::{
        instance::{Capabilities, Id, Status},
        token::{Token, TokenKind},
    },
    store::record::{AccountRecord, InstanceRecord, Record, TokenRecord},
};

/// The sample data has its ids below this one.
const SAMPLE_IDS: i64 = 1 << 40;

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

    fn write(&mut self, record: &Record) {
        serde_json::to_writer(&mut self.0, record).unwrap();
        self.0.write_all(b"\n").unwrap();
    }

    pub(crate) fn account(&mut self, name: &str) {
        self.write(&Record::Account(AccountRecord { name: name.to_owned(), real_name_verified: true }));
    }

    pub(crate) fn token(
        &mut self,
        account: &str,
        token: &Token,
        expires_at: Option<Timestamp>,
        revoked_at: Option<Timestamp>,
    ) {
        self.write(&Record::Token(TokenRecord {
            account: account.to_owned(),
            sha256: token.digest(),
            kind: TokenKind::Api,
            created_at: Timestamp::UNIX_EPOCH,
            expires_at,
            revoked_at,
        }));
    }

    pub(crate) fn instance(&mut self, account: &str, number: u64) {
        self.write(&Record::Instance(Box::new(InstanceRecord {
            account: account.to_owned(),
            order_no: Some(format!("SO-{}", number / 100)),
            instance_id: Id::new(SAMPLE_IDS + number.cast_signed()).unwrap(),
            offer_id: Id::new(1).unwrap(),
            status: Status::Active,
            ip: address(number),
            port: 20_001,
            protocols: vec!["http".to_owned(), "socks5".to_owned()],
            country_code: "USA".to_owned(),
            city_code: "NYC".to_owned(),
            isp_type: 1,
            expires_at: None,
            activated_at: Some(Timestamp::UNIX_EPOCH),
            capabilities: Capabilities::default(),
            group_id: None,
            username: Some("user".to_owned()),
            password: None,
        })));
    }

    /// The file from its beginning.
    pub(crate) fn finish(self) -> BufReader<File> {
        let mut file = self.0.into_inner().unwrap();
        file.rewind().unwrap();
        BufReader::with_capacity(1 << 16, file)
    }
}
