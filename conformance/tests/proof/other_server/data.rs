//! The data of the other server.

use jiff::{Span, Timestamp};
use serde_json::{Value, json};

/// Whose something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Account {
    Main,
    Second,
    Empty,
    /// Its whitelist lacks this machine.
    Elsewhere,
    /// Not real-name verified.
    Nameless,
    /// Entitled to nothing.
    Unpaid,
    SocksOnly,
}

pub const ORDERS: [&str; 2] = ["PO/77 a", "po/77 b"];
pub const FOREIGN_ORDER: &str = "PO/78";
pub const FOREIGN_GROUP: i64 = 9;
/// Held by both accounts.
pub const SHARED: &str = "198.51.100.10";
/// Countries with their cities.
pub const DIRECTORY: [(&str, [&str; 2]); 3] =
    [("KEN", ["nbo", "MBA"]), ("BRA", ["SAO", "Rio"]), ("JPN", ["TYO", "OSA"])];
pub const STATUSES: [&str; 5] = ["failed", "active", "expired", "provisioning", "cancelled"];

/// One instance.
pub struct Instance {
    pub account: Account,
    pub id: i64,
    /// The stored spelling, by which alone an IPv6 address is found.
    pub ip: String,
    pub port: i64,
    pub status: &'static str,
    pub country: &'static str,
    pub city: &'static str,
    pub group: Option<i64>,
    pub order: &'static str,
    pub activated: Option<Timestamp>,
}

impl Instance {
    /// As a response shows it: times in a far zone, integers where nobody expects more, members in an order of its own.
    pub fn shown(&self) -> Value {
        let zone = jiff::tz::offset(if self.id % 2 == 0 { 9 } else { -11 });
        let time = |time: Timestamp| format!("{:.9}", time.display_with_offset(zone));
        let capabilities = match self.id % 4 {
            0 => json!({}),
            1 => json!({"maxBatchSize": 3, "purchase": {}, "changeIp": false}),
            2 => {
                json!({"maxBatchSize": 100_000, "renew": {"allowedDays": []}, "trialDays": 0, "beta": "yes"})
            }
            _ => json!({"convertTrial": {"minDays": 0, "maxDays": 0, "stepDays": 0, "unit": "day"}}),
        };
        json!({
            "capabilities": capabilities,
            "groupId": self.group,
            "expiresAt": (self.id % 5 != 0).then_some("2031-02-28T23:59:59.999-00:30"),
            "activatedAt": self.activated.map(time),
            "protocols": if self.id % 3 == 0 { json!([]) } else { json!(["socks5", "http", "masque"]) },
            "ispType": self.id % 3,
            "cityCode": self.city,
            "countryCode": self.country,
            "port": self.port,
            "ip": self.ip,
            "status": self.status,
            "offerId": i64::MAX,
            "instanceId": self.id,
            "remark": {"by": ["nobody"]},
        })
    }
}

/// Groups of an account, ascending.
pub fn groups(account: Account) -> &'static [(i64, &'static str)] {
    match account {
        Account::Main => &[(7, ""), (1200, "\u{1f6aa} gates"), (i64::MAX, "none yet")],
        Account::Second => &[(FOREIGN_GROUP, "theirs")],
        _ => &[],
    }
}

/// All instances.
pub fn instances() -> Vec<Instance> {
    let mut instances = Vec::new();
    for address in 0..24 {
        // One, two, three or four ports.
        for port in 0..=address % 4 {
            let ip = if address % 2 == 0 {
                format!("198.51.100.{}", 10 + address)
            } else {
                format!("2001:0DB8:00AA:0000:0000:0000:0000:{address:04X}")
            };
            instances.push(instance(Account::Main, instances.len(), ip, port));
        }
    }
    for address in 0..20 {
        let ip = if address == 0 { SHARED.to_owned() } else { format!("198.51.100.{}", 200 + address) };
        instances.push(instance(Account::Second, instances.len(), ip, address % 3));
    }
    instances
}

fn instance(account: Account, index: usize, ip: String, port: i64) -> Instance {
    let id = 1_000_003 * (i64::try_from(index).expect("a few") + 1);
    let own = account == Account::Main;
    let (country, cities) = DIRECTORY[index % 3];
    let first: Timestamp = "2025-12-31T20:00:00.000000001Z".parse().expect("a time");
    let later = Span::new().minutes(97 * id / 1_000_003).nanoseconds(123_456_789 * (id % 3));
    Instance {
        account,
        id,
        ip,
        // The highest port there is, and such as others hardly have.
        port: if port == 3 { 65_535 } else { 9_000 + 7 * port },
        status: STATUSES[index % 5],
        country,
        city: cities[index / 3 % 2],
        group: match index % 4 {
            _ if !own => Some(FOREIGN_GROUP),
            0 => None,
            3 => Some(1200),
            _ => Some(7),
        },
        order: if own { ORDERS[index / 2 % 2] } else { FOREIGN_ORDER },
        activated: (index % 6 != 5).then(|| first.checked_add(later).expect("in this decade")),
    }
}
