//! Administration of what the contract presumes, while a service runs on the same database.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use sallyport_server::{
    data::{import::import, seed::seed},
    domain::{
        instance::Id,
        rejection::Rejection,
        service::Service,
        token::{Token, TokenKind},
    },
    store::{
        RecordKind,
        registry::{
            Dependents, End, Entry, IssuedToken, ListConsumer, Registry, RegistryError, TokenEntry, Written,
        },
    },
};
use serde_json::{Value, json};

use crate::{
    backend::{Database, all, conditions, connect, on_both, put, remove},
    requests::{command, range, with_id},
};

const ALONE: Dependents = Dependents { with_data: false, ungroup: false };
const WITH_DATA: Dependents = Dependents { with_data: true, ungroup: false };
const UNGROUP: Dependents = Dependents { with_data: false, ungroup: true };

fn id(number: i64) -> Id {
    Id::new(number).unwrap()
}

fn gateway(port: u16, protocol: &str) -> Value {
    json!({"host": "gw.invalid", "port": port, "region": "USA", "protocol": protocol, "username": "u",
           "password": "very-secret"})
}

/// The reason of a rejection, which must be of the right kind.
macro_rules! rejected {
    ($response:expr, $kind:ident) => {
        match $response {
            Err(error @ RegistryError::$kind(_)) => error.to_string(),
            other => panic!("expected {}, got {other:?}", stringify!($kind)),
        }
    };
}

/// A new database with an account that has everything an extraction needs, a gateway and a token.
struct Administration {
    registry: Registry,
    service: Service,
    token: Token,
    number: Id,
    entry: i64,
    database: Database,
}

impl Administration {
    async fn open(database: Database) -> Self {
        let service = Service::new(database.open().await);
        let registry = database.registry().await;
        put(&registry, RecordKind::Account, json!({"name": "acme"})).await.unwrap();
        let verified = json!({"name": "acme", "realNameVerified": true});
        put(&registry, RecordKind::Account, verified).await.unwrap();
        let IssuedToken { id: number, token, .. } =
            registry.issue_token("acme", TokenKind::Api, None).await.unwrap();
        let home = put(&registry, RecordKind::Whitelist, range("127.0.0.0/8")).await.unwrap();
        let right = json!({"account": "acme", "protocol": "http"});
        put(&registry, RecordKind::Entitlement, right).await.unwrap();
        put(&registry, RecordKind::Gateway, gateway(1, "http")).await.unwrap();
        let entry = home[0].entry["id"].as_i64().unwrap();
        Self { registry, service, token, number, entry, database }
    }

    async fn extract(&self) -> Result<usize, Rejection> {
        self.extract_with(&self.token).await
    }

    async fn extract_with(&self, token: &Token) -> Result<usize, Rejection> {
        self.service.extract(command(token, 9, "USA")).await.map(|extraction| extraction.endpoints.len())
    }

    async fn load(&self, lines: String) {
        import(self.database.open().await.as_ref(), std::io::Cursor::new(lines), |_| {}).await.unwrap();
    }
}

fn instance(number: i64, account: &str, group: &str, ip: &str) -> String {
    format!(
        r#"{{"instance":{{"account":"{account}","orderNo":"SO-{number}","instanceId":{number},"offerId":1,"status":"provisioning","ip":"{ip}","port":80,"protocols":["http"],"countryCode":"USA","cityCode":"NYC","ispType":1,"expiresAt":null,"activatedAt":null,"capabilities":{{"trialDays":3}},"groupId":{group},"username":"u","password":"very-secret"}}}}"#
    ) + "\n"
}

fn old(rotated: &IssuedToken) -> &TokenEntry {
    rotated.old.as_ref().unwrap()
}

async fn a_rotated_token_and_its_successor_are_good_together_for_a_while(database: Database) {
    let admin = Administration::open(database).await;
    let (registry, day) = (&admin.registry, Duration::from_secs(86_400));

    let before = Timestamp::now();
    let first = registry.rotate_token(admin.number, day, End::AsBefore).await.unwrap();
    assert_eq!(
        (first.expires_at, old(&first).revoked_at),
        (None, None),
        "without an end, as the old one was"
    );
    let end = old(&first).expires_at.unwrap();
    assert!(end >= before + SignedDuration::from_hours(24), "{end}");
    assert_eq!(admin.extract().await, Ok(1));
    assert_eq!(admin.extract_with(&first.token).await, Ok(1));

    // A later rotation does not lengthen what is left of the old one.
    let unclear = registry.rotate_token(admin.number, day, End::AsBefore).await;
    assert!(rejected!(unclear, Rejected).contains("--expires never"));
    let again = registry.rotate_token(admin.number, 30 * day, End::Never).await.unwrap();
    assert_eq!((old(&again).expires_at, again.expires_at), (Some(end), None));

    let second = registry.rotate_token(first.id, Duration::ZERO, End::At(end)).await.unwrap();
    assert_eq!(second.expires_at, Some(end));
    assert!(old(&second).revoked_at.is_some());
    assert_eq!(admin.extract_with(&first.token).await, Err(Rejection::TokenRevoked));
    assert_eq!(admin.extract_with(&second.token).await, Ok(1));
    let reason = rejected!(registry.rotate_token(first.id, day, End::Never).await, Rejected);
    assert!(reason.contains("was revoked") && reason.contains("server token issue"), "{reason}");
    let endless = registry.rotate_token(second.id, Duration::MAX, End::Never).await;
    assert!(rejected!(endless, Rejected).contains("shorter overlap"));

    let kinds = all(registry, RecordKind::Token, &["kind=api"]).await;
    assert_eq!(kinds.len(), 4);
}

async fn tokens_are_issued_listed_and_revoked(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    rejected!(registry.issue_token("nobody", TokenKind::Api, None).await, Unknown);
    let link = registry.issue_token("acme", TokenKind::Link, None).await.unwrap().id;

    let one = vec![admin.number, id(99)];
    let reason = rejected!(registry.revoke_tokens(one, Timestamp::now()).await, Unknown);
    assert!(reason.contains("unknown token 99"), "{reason}");
    assert_eq!(admin.extract().await, Ok(1), "all or none");
    registry.revoke_tokens(vec![admin.number], Timestamp::UNIX_EPOCH).await.unwrap();
    registry.revoke_tokens(vec![admin.number], Timestamp::now()).await.unwrap();
    assert_eq!(admin.extract().await, Err(Rejection::TokenRevoked));

    let entries = all(registry, RecordKind::Token, &["account=acme"]).await;
    assert_eq!(values(&entries, "id"), [json!(admin.number), json!(link)]);
    assert_eq!(entries[0]["revokedAt"], "1970-01-01T00:00:00Z", "the first revocation stays");
    assert_eq!(all(registry, RecordKind::Token, &["revokedAt=null"]).await.len(), 1);
}

/// Records that were good when they were stored, and would be rejected now if they were new.
async fn what_is_stored_can_be_put_again_and_changed(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    let over = "2020-01-01T00:00:00Z";
    admin
        .load(
            [
                r#"{"account":{"name":" odd ","realNameVerified":false}}"#.to_owned(),
                format!(r#"{{"whitelist":{{"account":" odd ","first":"1.1.1.1","enabled":true,"expiresAt":"{over}"}}}}"#),
                format!(r#"{{"entitlement":{{"account":" odd ","protocol":"http","expiresAt":"{over}"}}}}"#),
                r#"{"gateway":{"host":"2001:DB8:0::1","port":0,"region":"DEU","protocol":"http"}}"#.to_owned(),
                r#"{"gateway":{"host":"odd host","port":1,"region":"DEU","protocol":"http"}}"#.to_owned(),
                format!(r#"{{"group":{{"account":" odd ","groupId":7,"name":"","createdAt":"{over}","updatedAt":"{over}"}}}}"#),
                instance(1, " odd ", "7", "192.0.2.1")
                    .replace("provisioning", "active")
                    .replace(r#""expiresAt":null"#, &format!(r#""expiresAt":"{over}""#)),
            ]
            .join("\n"),
        )
        .await;
    let kinds = RecordKind::ALL.into_iter().filter(|kind| *kind != RecordKind::Token);
    for kind in kinds {
        let listed = all(registry, kind, &[]).await;
        let shown = Value::Array(listed.iter().cloned().map(Value::Object).collect());
        put(registry, kind, shown).await.unwrap();
        assert_eq!(all(registry, kind, &[]).await, listed, "{kind:?}");
    }
    for (kind, change) in [
        (RecordKind::Account, json!({"name": " odd ", "realNameVerified": true})),
        (
            RecordKind::Gateway,
            json!({"host": "odd host", "port": 1, "region": "DEU", "protocol": "http", "username": "v"}),
        ),
        (RecordKind::Group, json!({"groupId": 7, "createdAt": "2021-01-01T00:00:00Z"})),
        (RecordKind::Instance, json!({"instanceId": 1, "cityCode": "LAX"})),
    ] {
        assert!(!put(registry, kind, change).await.unwrap()[0].is_new, "{kind:?}");
    }
    // A line of a list, edited.
    put(registry, RecordKind::Instance, json!({"instanceId": 1, "status": "expired"})).await.unwrap();
    let mut line = all(registry, RecordKind::Instance, &[]).await.remove(0);
    line.insert("expiresAt".to_owned(), "9000-01-01T00:00:00Z".into());
    let renewed = put(registry, RecordKind::Instance, Value::Object(line)).await.unwrap();
    assert_eq!(renewed[0].entry["status"], "active");
}

/// The values of one field.
fn values(entries: &[Entry], field: &str) -> Vec<Value> {
    entries.iter().map(|entry| entry[field].clone()).collect()
}

async fn accounts_are_known_by_name(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    let tokens_of = async |name: &str| {
        let conditions = conditions(RecordKind::Token, &[&format!("account={name}")]);
        registry.list(RecordKind::Token, conditions, None, Vec::new()).await.map(drop)
    };
    assert!(rejected!(tokens_of("acne").await, Unknown).contains("did you mean \"acme\"?"));
    let far = rejected!(remove(registry, RecordKind::Account, &["name=zebra"], ALONE).await, Unknown);
    assert!(far.contains("server list account"), "{far}");
    let token = admin.token.expose().to_owned();
    let misplaced = rejected!(tokens_of(&token).await, Unknown);
    assert!(!misplaced.contains(&token), "{misplaced}");
    let named = rejected!(put(registry, RecordKind::Account, json!({"name": token})).await, Rejected);
    assert!(!named.contains(&token), "{named}");

    let both = json!([{"name": "b"}, {"name": " c"}]);
    let second = rejected!(put(registry, RecordKind::Account, both).await, Rejected);
    assert!(second.starts_with("record 2: "), "{second}");
    assert_eq!(all(registry, RecordKind::Account, &[]).await.len(), 1, "all or none");
    put(registry, RecordKind::Account, json!({"name": "b"})).await.unwrap();
    let verified = all(registry, RecordKind::Account, &["realNameVerified=true"]).await;
    assert_eq!(values(&verified, "name"), ["acme"]);
    assert_eq!(all(registry, RecordKind::Account, &[]).await.len(), 2);
    let (first, more) = registry.list(RecordKind::Account, Vec::new(), Some(1), Vec::new()).await.unwrap();
    assert_eq!((first.len(), more), (1, true));
}

async fn an_account_goes_with_all_it_has_or_not_at_all(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    let new_group = async || -> i64 {
        let group = put(registry, RecordKind::Group, json!({"account": "acme", "name": "g"})).await.unwrap();
        group[0].entry["groupId"].as_i64().unwrap()
    };
    let number = new_group().await;
    admin.load(instance(1, "acme", &number.to_string(), "192.0.2.1")).await;
    admin.service.extract(with_id("kept", command(&admin.token, 1, "USA"))).await.unwrap();

    let acme = ["name=acme"];
    let reason = rejected!(remove(registry, RecordKind::Account, &acme, ALONE).await, InUse);
    let belongings = "1 token, 1 whitelist entry, 1 entitlement, 1 group, 1 instance";
    assert!(reason.contains(belongings) && reason.contains("--with-data"), "{reason}");
    assert_eq!(admin.extract().await, Ok(1));
    let gone = remove(registry, RecordKind::Account, &acme, WITH_DATA).await.unwrap();
    assert_eq!(gone, format!("account \"acme\", with {belongings}"));
    assert_eq!(admin.extract().await, Err(Rejection::TokenUnknown));
    rejected!(remove(registry, RecordKind::Account, &acme, WITH_DATA).await, Unknown);

    // What is made anew has numbers of its own: nobody takes it for what is gone.
    put(registry, RecordKind::Account, json!({"name": "acme"})).await.unwrap();
    let entry = put(registry, RecordKind::Whitelist, range("1.1.1.1")).await.unwrap();
    assert!(entry[0].entry["id"].as_i64().unwrap() > admin.entry);
    assert!(new_group().await > number);
    let old = json!({"account": "acme", "groupId": number, "name": "g"});
    assert!(rejected!(put(registry, RecordKind::Group, old).await, Rejected).contains("not used again"));
    let token = registry.issue_token("acme", TokenKind::Api, None).await.unwrap();
    assert!(token.id > admin.number);
}

async fn the_whitelist_rejects_what_makes_no_sense(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    let whitelist = async |records: Value| put(registry, RecordKind::Whitelist, records).await;
    let good = range("1.1.1.1-2.2.2.2");
    let backwards = json!({"account": "acme", "first": "2.2.2.2", "last": "1.1.1.1"});
    let reason = rejected!(whitelist(json!([good, backwards])).await, Rejected);
    assert!(reason.contains("write 1.1.1.1-2.2.2.2"), "{reason}");
    let nobody = json!({"account": "acm", "range": "1.1.1.1"});
    rejected!(whitelist(json!([good, nobody])).await, Unknown);
    assert_eq!(all(registry, RecordKind::Whitelist, &[]).await.len(), 1, "all or none");
    let twice = whitelist(json!([good, good])).await.unwrap();
    assert_eq!(twice.iter().map(|it| it.is_new).collect::<Vec<_>>(), [true, false], "a range is one entry");
    assert_eq!(twice[0].entry["id"], twice[1].entry["id"]);

    let over = json!({"account": "acme", "range": "1.1.1.1-2.2.2.2", "expiresAt": "1970-01-01T00:00:00Z"});
    assert!(rejected!(whitelist(over.clone()).await, Rejected).contains("expired 1970"));
    let mut disabled = over;
    disabled["enabled"] = false.into();
    let number = whitelist(disabled).await.unwrap()[0].entry["id"].clone();
    let enabled = |number: &Value, enabled: bool| json!({"id": number, "enabled": enabled});
    whitelist(enabled(&admin.entry.into(), false)).await.unwrap();
    let both = json!([enabled(&admin.entry.into(), true), enabled(&number, true)]);
    assert!(rejected!(whitelist(both).await, Rejected).contains("enabling it has no effect"));
    assert_eq!(admin.extract().await, Err(Rejection::CallerNotWhitelisted), "all or none");
    rejected!(whitelist(enabled(&99.into(), true)).await, Unknown);
    let taken = json!({"id": number, "first": "127.0.0.0", "last": "127.255.255.255"});
    assert!(rejected!(whitelist(taken).await, Rejected).contains("with the same account, first, last"));
    let keys = [&*format!("id={number}"), "id=99"];
    rejected!(remove(registry, RecordKind::Whitelist, &keys, ALONE).await, Unknown);

    let rows = all(registry, RecordKind::Whitelist, &["account=acme", "covers=1.255.0.0"]).await;
    assert_eq!(values(&rows, "id"), [number]);
}

async fn gateways_are_put_and_removed_by_their_place(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    let [Written { is_new: false, entry, .. }] =
        &put(registry, RecordKind::Gateway, gateway(1, "http")).await.unwrap()[..]
    else {
        panic!("it is known")
    };
    assert_eq!((&entry["hasPassword"], entry.get("password")), (&json!(true), None));
    let both = json!([gateway(1, "socks5"), gateway(2, "http")]);
    put(registry, RecordKind::Gateway, both).await.unwrap();
    assert_eq!(admin.extract().await, Ok(2));

    let listed = all(registry, RecordKind::Gateway, &[]).await;
    assert_eq!(listed.len(), 3);
    assert!(listed.iter().all(|it| it["hasPassword"] == true && it["username"] == "u"));
    assert!(!format!("{listed:?}").contains("very-secret"));
    // What a list shows can be put again, and the password stays.
    let shown = Value::Array(listed.into_iter().map(Value::Object).collect());
    put(registry, RecordKind::Gateway, shown).await.unwrap();
    assert_eq!(all(registry, RecordKind::Gateway, &[]).await[0]["hasPassword"], true);

    let remove = async |fields: &[&str]| {
        registry.remove(RecordKind::Gateway, vec![conditions(RecordKind::Gateway, fields)], ALONE, None).await
    };
    assert_eq!(remove(&["host=gw.invalid", "port=1"]).await.unwrap(), "2 gateways");
    rejected!(remove(&["host=gw.invalid", "port=1", "protocol=http"]).await, Unknown);
    assert_eq!(admin.extract().await, Ok(1));
}

async fn groups_and_instances_stay_within_their_account(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    put(registry, RecordKind::Account, json!({"name": "other"})).await.unwrap();
    let groups = json!([{"account": "acme", "name": "mine"}, {"account": "other", "name": "theirs"}]);
    let groups = put(registry, RecordKind::Group, groups).await.unwrap();
    let [mine, theirs] = [0, 1].map(|place| groups[place].entry["groupId"].as_i64().unwrap());
    admin.load(instance(1, "acme", "null", "192.0.2.1") + &instance(2, "acme", "null", "192.0.2.1")).await;
    admin.load(instance(3, "other", &theirs.to_string(), "192.0.2.1")).await;

    let into = async |instances: &[i64], group: Value| {
        let records =
            instances.iter().map(|number| json!({"instanceId": number, "groupId": group})).collect();
        put(registry, RecordKind::Instance, records).await
    };
    let foreign = rejected!(into(&[1, 3], mine.into()).await, Rejected);
    assert!(foreign.contains("belongs to account \"acme\", but instance 3 to \"other\""), "{foreign}");
    let grouped =
        async |group: i64| all(registry, RecordKind::Instance, &[&format!("groupId={group}")]).await;
    assert!(grouped(mine).await.is_empty(), "all or none");
    rejected!(into(&[1], 99.into()).await, Unknown);
    let incomplete = rejected!(into(&[1, 99], mine.into()).await, Rejected);
    assert!(incomplete.contains("missing field"), "{incomplete}");
    into(&[1, 2], mine.into()).await.unwrap();

    let key = [&*format!("groupId={mine}")];
    let reason = rejected!(remove(registry, RecordKind::Group, &key, ALONE).await, InUse);
    assert!(reason.contains("has 2 instances") && reason.contains("--ungroup"), "{reason}");
    let selection = vec![conditions(RecordKind::Group, &key)];
    let confirmed = Some(format!("group {mine}, with 1 instance"));
    let other = registry.remove(RecordKind::Group, selection, UNGROUP, confirmed).await;
    assert!(rejected!(other, Rejected).contains("has changed meanwhile"));
    let words = remove(registry, RecordKind::Group, &key, UNGROUP).await.unwrap();
    assert_eq!(words, format!("group {mine}, with 2 instances"));
    assert_eq!(all(registry, RecordKind::Instance, &["groupId=null"]).await.len(), 2);

    let rename = async |group: i64, name: &str| {
        put(registry, RecordKind::Group, json!({"groupId": group, "name": name})).await
    };
    let later = Timestamp::now() + SignedDuration::from_secs(1);
    registry
        .put(
            RecordKind::Group,
            vec![Entry::from_iter([
                ("groupId".to_owned(), theirs.into()),
                ("name".to_owned(), "ours".into()),
            ])],
            later,
        )
        .await
        .unwrap();
    assert!(rejected!(rename(mine, "gone").await, Rejected).contains("missing field `account`"));
    rejected!(rename(theirs, "").await, Rejected);
    let moved = json!({"groupId": theirs, "account": "acme"});
    assert!(rejected!(put(registry, RecordKind::Group, moved).await, Rejected).contains("cannot move"));
    let groups = all(registry, RecordKind::Group, &["account=other"]).await;
    assert!(groups.len() == 1 && groups[0]["name"] == "ours");
    assert!(groups[0]["updatedAt"].as_str() > groups[0]["createdAt"].as_str());
    assert_eq!(admin.service.groups(&admin.token).await, Ok(Vec::new()));
}

async fn instances_are_found_changed_and_removed(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    put(registry, RecordKind::Account, json!({"name": "other"})).await.unwrap();
    let lines = [
        (1, "acme", "2001:db8::1"),
        (2, "acme", "192.0.2.9"),
        (3, "other", "192.0.2.1"),
        (4, "acme", "192.0.2.9"),
    ];
    admin.load(lines.map(|(number, account, ip)| instance(number, account, "null", ip)).concat()).await;
    let numbers =
        async |fields: &[&str]| values(&all(registry, RecordKind::Instance, fields).await, "instanceId");
    assert_eq!(numbers(&[]).await, [2, 4, 1, 3], "by account, address and number");
    for (field, found) in [
        ("ip=192.0.2.1", &[3][..]),
        ("ip=::ffff:192.0.2.1", &[3]),
        ("account=other", &[3]),
        ("orderNo=SO-4", &[4]),
        ("countryCode=DEU", &[]),
        ("cityCode=NYC", &[2, 4, 1, 3]),
        ("port=80", &[2, 4, 1, 3]),
        ("expiresAt=null", &[2, 4, 1, 3]),
    ] {
        assert_eq!(numbers(&[field]).await, found, "{field}");
    }

    let one = async |number: i64| {
        all(registry, RecordKind::Instance, &[&format!("instanceId={number}")]).await.remove(0)
    };
    let change = async |record: Value, now: Timestamp| {
        let Value::Object(record) = record else { panic!("{record}") };
        registry.put(RecordKind::Instance, vec![record], now).await
    };
    let status = |number: i64, status: &str| json!({"instanceId": number, "status": status});
    let first = Timestamp::from_second(1_700_000_000).unwrap();
    for (number, name, now) in
        [(1, "active", first), (2, "active", first), (1, "expired", first), (1, "active", Timestamp::MAX)]
    {
        change(status(number, name), now).await.unwrap();
    }
    let found = one(1).await;
    assert_eq!(
        (&found["status"], &found["activatedAt"]),
        (&json!("active"), &json!(first)),
        "the first time counts"
    );
    assert!(found["hasPassword"] == true && found["capabilities"]["trialDays"] == 3);
    assert_eq!(one(3).await["activatedAt"], Value::Null);
    assert_eq!(numbers(&["status=active"]).await, [2, 1]);
    let both = json!([status(3, "failed"), status(9, "failed")]);
    rejected!(put(registry, RecordKind::Instance, both).await, Rejected);
    rejected!(
        remove(registry, RecordKind::Instance, &["instanceId=3", "instanceId=9"], ALONE).await,
        Unknown
    );
    assert_eq!(one(3).await["status"], "provisioning", "all or none");

    // Renewed, an expired instance is active again; others keep their status.
    change(status(2, "expired"), first).await.unwrap();
    let end = "9000-01-01T00:00:00Z";
    for (number, status, activated_at) in [(2, "active", json!(first)), (3, "provisioning", Value::Null)] {
        change(json!({"instanceId": number, "expiresAt": end}), Timestamp::now()).await.unwrap();
        let renewed = one(number).await;
        assert_eq!(
            (&renewed["status"], &renewed["activatedAt"], &renewed["expiresAt"]),
            (&json!(status), &activated_at, &json!(end))
        );
    }
    let over = json!({"instanceId": 2, "expiresAt": "2020-01-01T00:00:00Z"});
    assert!(rejected!(change(over, Timestamp::now()).await, Rejected).contains("in the future"));
    change(json!({"instanceId": 2, "ip": "::ffff:192.0.2.77"}), first).await.unwrap();
    let moved = one(2).await;
    assert_eq!((&moved["ip"], &moved["hasPassword"]), (&json!("192.0.2.77"), &json!(true)));
    remove(registry, RecordKind::Instance, &["instanceId=1", "instanceId=4"], ALONE).await.unwrap();
    assert_eq!(numbers(&[]).await, [2, 3]);
}

async fn a_reader_that_has_enough_ends_the_list(database: Database) {
    struct ThreeEntries(u32);
    impl ListConsumer for ThreeEntries {
        fn take(&mut self, _: Entry) -> std::io::Result<()> {
            self.0 += 1;
            if self.0 == 3 { Err(std::io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
        }
    }
    let store = database.open().await;
    seed(store.as_ref()).await.unwrap();
    let registry = database.registry().await;
    let ended = registry.list(RecordKind::Instance, Vec::new(), None, ThreeEntries(0)).await;
    assert!(matches!(ended, Err(RegistryError::Output(_))));
    let (all, more) = registry.list(RecordKind::Instance, Vec::new(), Some(2000), Vec::new()).await.unwrap();
    assert_eq!((all.len(), more), (2000, true));
    // Each once, and the connection is as good as new.
    let mut numbers: Vec<_> = all.iter().map(|it| it["instanceId"].as_i64()).collect();
    numbers.sort();
    numbers.dedup();
    assert_eq!(numbers.len(), 2000);
}

async fn administrators_at_the_same_time_get_numbers_of_their_own(database: Database) {
    let admin = std::sync::Arc::new(Administration::open(database).await);
    let adding: Vec<_> = (0..8)
        .map(|number| {
            let admin = std::sync::Arc::clone(&admin);
            tokio::spawn(async move {
                let registry = admin.database.registry().await;
                put(&registry, RecordKind::Gateway, gateway(100 + number, "http")).await.unwrap();
                let group = put(&registry, RecordKind::Group, json!({"account": "acme", "name": "g"})).await;
                group.unwrap()[0].entry["groupId"].as_i64()
            })
        })
        .collect();
    let mut numbers = Vec::new();
    for added in adding {
        numbers.push(added.await.unwrap());
    }
    numbers.sort();
    numbers.dedup();
    assert_eq!(numbers.len(), 8);
    assert_eq!(admin.extract().await, Ok(9));
}

async fn the_program_has_the_same_commands_on_both(database: Database) {
    database.open().await;
    let run = |line: &str| {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_server"));
        let output = program.args(line.split(' ')).env("SALLYPORT_DB", database.name()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), error)
    };
    for line in [
        "put account --name acme --real-name-verified",
        "token issue --account acme",
        "put whitelist --account acme --range 192.0.2.0/24",
        "put entitlement --account acme --protocol http",
        "put gateway --host gw.invalid --port 1 --region USA --protocol http",
        "put group --account acme --name east",
    ] {
        let (code, _, error) = run(line);
        assert_eq!(code, Some(0), "{line}: {error}");
    }
    let listed = r#"{"id":1,"account":"acme","first":"192.0.2.0","last":"192.0.2.255","enabled":true,"expiresAt":null}"#;
    assert_eq!(run("list whitelist --output json").1.trim_end(), listed);
    let (code, _, error) = run("remove account acme --yes");
    assert_eq!((code, error.lines().count()), (Some(1), 1), "{error}");
    assert_eq!(run("remove account acme --yes --with-data").0, Some(0));
}

on_both! {
    the_program_has_the_same_commands_on_both,
    a_rotated_token_and_its_successor_are_good_together_for_a_while,
    tokens_are_issued_listed_and_revoked,
    what_is_stored_can_be_put_again_and_changed,
    accounts_are_known_by_name,
    an_account_goes_with_all_it_has_or_not_at_all,
    the_whitelist_rejects_what_makes_no_sense,
    gateways_are_put_and_removed_by_their_place,
    groups_and_instances_stay_within_their_account,
    instances_are_found_changed_and_removed,
    a_reader_that_has_enough_ends_the_list,
    administrators_at_the_same_time_get_numbers_of_their_own,
}

const FIRST_SQLITE: &str = include_str!("../../src/store/sqlite/migrations/0001_initial.sql");
const FIRST_POSTGRES: &str = include_str!("../../src/store/postgres/migrations/0001_initial.sql");

/// What an earlier version of the program could have stored.
const EARLIER: &str = "
    INSERT INTO accounts (id, name, real_name_verified) VALUES (7, 'acme', (1 = 1)), (8, 'other', (1 = 0));
    INSERT INTO entitlements (account_id, protocol) VALUES (7, 'http');
";

/// The tables of the first version become those of this one, with what is in them.
async fn check_earlier(database: &Database) {
    database.open().await;
    let registry = database.registry().await;
    let accounts = all(&registry, RecordKind::Account, &[]).await;
    assert_eq!(values(&accounts, "name"), ["acme", "other"]);
    assert_eq!(all(&registry, RecordKind::Entitlement, &[]).await.len(), 1);
    put(&registry, RecordKind::Whitelist, range("1.1.1.1")).await.unwrap();
    put(&registry, RecordKind::Group, json!({"account": "acme", "name": "g"})).await.unwrap();
}

#[tokio::test]
async fn a_sqlite_file_of_the_first_version_is_brought_up_to_date() {
    let database = Database::sqlite().unwrap();
    database.execute(&format!("{FIRST_SQLITE}; {EARLIER}")).await;
    let rows = "INSERT INTO whitelist (id, account_id, first, last, enabled)
                VALUES (5, 7, zeroblob(16), zeroblob(16), 1);
                PRAGMA application_id = 1396788313; PRAGMA user_version = 1;";
    database.execute(rows).await;
    check_earlier(&database).await;
    let db = rusqlite::Connection::open(database.name()).unwrap();
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("SELECT max(id) FROM whitelist"), 6, "numbers go on");
    assert_eq!(number("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    // Foreign keys of the tables that stayed lead to the new ones.
    db.pragma_update(None, "foreign_keys", true).unwrap();
    assert!(db.execute("DELETE FROM accounts WHERE id = 7", []).is_err());
    assert!(db.execute("INSERT INTO entitlements (account_id, protocol) VALUES (99, 'http')", []).is_err());
    // The highest number is not given again once its owner is gone.
    db.execute("DELETE FROM accounts WHERE id = 8", []).unwrap();
    db.execute("INSERT INTO accounts (name, real_name_verified) VALUES ('new', 1)", []).unwrap();
    assert_eq!(number("SELECT max(id) FROM accounts"), 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgresql_database_of_the_first_version_is_brought_up_to_date() {
    let Some(database) = Database::postgres().await else { return };
    let first =
        "CREATE TABLE sallyport_schema (version bigint NOT NULL); INSERT INTO sallyport_schema VALUES (1);";
    database.execute(&format!("{FIRST_POSTGRES}; {EARLIER} {first}")).await;
    check_earlier(&database).await;
    let Some(new) = Database::postgres().await else { return };
    new.open().await;
    let version = async |database: &Database| -> i64 {
        let client = connect(&database.name()).await.unwrap();
        client.query_one("SELECT version FROM sallyport_schema", &[]).await.unwrap().get(0)
    };
    assert_eq!(version(&database).await, version(&new).await);
}
