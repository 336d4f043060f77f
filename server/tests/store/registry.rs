//! Administration of what the contract presumes, while a service runs on the same database.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use sallyport_server::{
    data::{
        import::import,
        seed::seed,
        tokens::{self, End},
    },
    domain::{
        instance::{Id, Status},
        protocol::Protocol,
        rejection::Rejection,
        service::Service,
        token::{Token, TokenKind},
    },
    store::{
        record::{
            AccountRecord, EntitlementRecord, GatewayRecord, GroupRecord, ProxyPassword, WhitelistRecord,
        },
        registry::{
            AccountFilter, EntitlementFilter, GatewayEntry, GatewayFilter, GatewayName, GroupChoice,
            GroupFilter, InstanceEntry, InstanceFilter, ListConsumer, Registry, RegistryError, TokenEntry,
            TokenFilter, WhitelistFilter, WhitelistRow,
        },
    },
};

use crate::{
    backend::{Database, all, connect, on_both},
    requests::{addresses, command, with_id},
};

fn id(number: i64) -> Id {
    Id::new(number).unwrap()
}

fn account(name: &str) -> AccountRecord {
    AccountRecord { name: name.to_owned(), real_name_verified: false }
}

fn gateway(port: u16, protocol: Protocol) -> GatewayRecord {
    GatewayRecord {
        host: "gw.invalid".to_owned(),
        port,
        region: "USA".to_owned(),
        protocol,
        username: Some("u".to_owned()),
        password: Some(ProxyPassword::new("very-secret")),
    }
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
    entry: Id,
    database: Database,
}

impl Administration {
    async fn open(database: Database) -> Self {
        let service = Service::new(database.open().await);
        let registry = database.registry().await;
        registry.add_account(account("acme")).await.unwrap();
        registry.verify_account("acme".to_owned(), true).await.unwrap();
        let (number, token) = tokens::issue(&registry, "acme", TokenKind::Api, None).await.unwrap();
        let home = addresses("acme", [127, 0, 0, 0], [127, 255, 255, 255]);
        let entry = registry.add_whitelist(vec![home]).await.unwrap()[0].id;
        let right =
            EntitlementRecord { account: "acme".to_owned(), protocol: Protocol::Http, expires_at: None };
        registry.grant(right).await.unwrap();
        registry.add_gateway(gateway(1, Protocol::Http)).await.unwrap();
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

async fn a_rotated_token_and_its_successor_are_good_together_for_a_while(database: Database) {
    let admin = Administration::open(database).await;
    let (registry, day) = (&admin.registry, Duration::from_secs(86_400));

    let before = Timestamp::now();
    let first = tokens::rotate(registry, admin.number, day, End::AsBefore).await.unwrap();
    assert_eq!((first.expires_at, first.old.revoked_at), (None, None), "without an end, as the old one was");
    let end = first.old.expires_at.unwrap();
    assert!(end >= before + SignedDuration::from_hours(24), "{end}");
    assert_eq!(admin.extract().await, Ok(1));
    assert_eq!(admin.extract_with(&first.token).await, Ok(1));

    // A later rotation does not lengthen what is left of the old one.
    let unclear = tokens::rotate(registry, admin.number, day, End::AsBefore).await;
    assert!(rejected!(unclear, Rejected).contains("--expires never"));
    let again = tokens::rotate(registry, admin.number, 30 * day, End::Never).await.unwrap();
    assert_eq!((again.old.expires_at, again.expires_at), (Some(end), None));

    let second = tokens::rotate(registry, first.id, Duration::ZERO, End::At(end)).await.unwrap();
    assert_eq!(second.expires_at, Some(end));
    assert!(second.old.revoked_at.is_some());
    assert_eq!(admin.extract_with(&first.token).await, Err(Rejection::TokenRevoked));
    assert_eq!(admin.extract_with(&second.token).await, Ok(1));
    let reason = rejected!(tokens::rotate(registry, first.id, day, End::Never).await, Rejected);
    assert!(reason.contains("was revoked") && reason.contains("server token issue"), "{reason}");
    let endless = tokens::rotate(registry, second.id, Duration::MAX, End::Never).await;
    assert!(rejected!(endless, Rejected).contains("shorter overlap"));

    let kinds: Vec<_> =
        all::<TokenEntry>(registry, TokenFilter::default()).await.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [TokenKind::Api; 4]);
}

async fn tokens_are_issued_listed_and_revoked(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    rejected!(tokens::issue(registry, "nobody", TokenKind::Api, None).await, Unknown);
    let (link, _) = tokens::issue(registry, "acme", TokenKind::Link, None).await.unwrap();

    let one = vec![admin.number, id(99)];
    let reason = rejected!(registry.revoke_tokens(one, Timestamp::now()).await, Unknown);
    assert!(reason.contains("unknown token 99"), "{reason}");
    assert_eq!(admin.extract().await, Ok(1), "all or none");
    registry.revoke_tokens(vec![admin.number], Timestamp::UNIX_EPOCH).await.unwrap();
    registry.revoke_tokens(vec![admin.number], Timestamp::now()).await.unwrap();
    assert_eq!(admin.extract().await, Err(Rejection::TokenRevoked));

    let filter = TokenFilter { account: Some("acme".to_owned()) };
    let entries = all::<TokenEntry>(registry, filter).await;
    assert_eq!(entries.iter().map(|it| it.id).collect::<Vec<_>>(), [admin.number, link]);
    assert_eq!(entries[0].revoked_at, Some(Timestamp::UNIX_EPOCH), "the first revocation stays");
}

async fn accounts_are_known_by_name(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    assert!(rejected!(registry.add_account(account("acme")).await, AlreadyExists).contains("acme"));
    assert!(rejected!(registry.account("acne".to_owned()).await, Unknown).contains("did you mean \"acme\"?"));
    let far = rejected!(registry.verify_account("zebra".to_owned(), true).await, Unknown);
    assert!(far.contains("server account list"), "{far}");
    let token = admin.token.expose().to_owned();
    let misplaced = rejected!(registry.account(token.clone()).await, Unknown);
    assert!(!misplaced.contains(&token), "{misplaced}");

    registry.add_account(account("b")).await.unwrap();
    let verified = AccountFilter { real_name_verified: Some(true) };
    let names: Vec<_> =
        all::<AccountRecord>(registry, verified).await.into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["acme"]);
    assert_eq!(all::<AccountRecord>(registry, AccountFilter::default()).await.len(), 2);
    let (first, more) =
        registry.list::<AccountRecord, _>(AccountFilter::default(), Some(1), Vec::new()).await.unwrap();
    assert_eq!((first.len(), more), (1, true));
}

async fn an_account_goes_with_all_it_has_or_not_at_all(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    let group = registry.add_group("acme".to_owned(), "g".to_owned(), Timestamp::now()).await.unwrap();
    let number = group.group_id.get();
    admin.load(instance(1, "acme", &number.to_string(), "192.0.2.1")).await;
    admin.service.extract(with_id("kept", command(&admin.token, 1, "USA"))).await.unwrap();

    let reason = rejected!(registry.remove_account("acme".to_owned(), false).await, InUse);
    let belongings = "1 token, 1 whitelist entry, 1 entitlement, 1 group, 1 instance";
    assert!(reason.contains(belongings) && reason.contains("--with-data"), "{reason}");
    assert_eq!(admin.extract().await, Ok(1));
    let gone = registry.remove_account("acme".to_owned(), true).await.unwrap();
    assert_eq!(gone.in_words().as_deref(), Some(belongings));
    assert_eq!(admin.extract().await, Err(Rejection::TokenUnknown));
    rejected!(registry.account("acme".to_owned()).await, Unknown);

    // What is made anew has numbers of its own: nobody takes it for what is gone.
    registry.add_account(account("acme")).await.unwrap();
    let entry = registry.add_whitelist(vec![addresses("acme", [1; 4], [1; 4])]).await.unwrap();
    assert!(entry[0].id > admin.entry);
    let group = registry.add_group("acme".to_owned(), "g".to_owned(), Timestamp::now()).await.unwrap();
    assert!(group.group_id.get() > number);
    let (token, _) = tokens::issue(registry, "acme", TokenKind::Api, None).await.unwrap();
    assert!(token > admin.number);
}

async fn the_whitelist_rejects_what_makes_no_sense(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    let good = addresses("acme", [1; 4], [2; 4]);
    let backwards = addresses("acme", [2; 4], [1; 4]);
    let reason = rejected!(registry.add_whitelist(vec![good.clone(), backwards]).await, Rejected);
    assert!(reason.contains("write 1.1.1.1-2.2.2.2"), "{reason}");
    let nobody = WhitelistRecord { account: "acm".to_owned(), ..good.clone() };
    rejected!(registry.add_whitelist(vec![good.clone(), nobody]).await, Unknown);
    let twice = rejected!(registry.add_whitelist(vec![good.clone(), good.clone()]).await, AlreadyExists);
    assert!(twice.contains("already has 1.1.1.1-2.2.2.2"), "{twice}");
    assert_eq!(all::<WhitelistRow>(registry, WhitelistFilter::default()).await.len(), 1, "all or none");

    let expired = WhitelistRecord { expires_at: Some(Timestamp::UNIX_EPOCH), ..good };
    let number = registry.add_whitelist(vec![expired]).await.unwrap()[0].id;
    let both = vec![admin.entry, number];
    registry.enable_whitelist(both.clone(), false, Timestamp::now()).await.unwrap();
    let reason = rejected!(registry.enable_whitelist(both, true, Timestamp::now()).await, Rejected);
    assert!(reason.contains("expired 1970"), "{reason}");
    assert_eq!(admin.extract().await, Err(Rejection::CallerNotWhitelisted), "all or none");
    rejected!(registry.remove_whitelist(vec![number, id(99)]).await, Unknown);

    let covers = WhitelistFilter { account: Some("acme".to_owned()), covers: Some([1, 255, 0, 0].into()) };
    let rows = all::<WhitelistRow>(registry, covers).await;
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), [number]);
}

async fn gateways_are_added_and_removed_by_their_place(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    let twice = rejected!(registry.add_gateway(gateway(1, Protocol::Http)).await, AlreadyExists);
    assert!(twice.contains("gw.invalid:1 already exists in USA"), "{twice}");
    assert!(!twice.contains("very-secret"), "{twice}");
    registry.add_gateway(gateway(1, Protocol::Socks5)).await.unwrap();
    registry.add_gateway(gateway(2, Protocol::Http)).await.unwrap();
    assert_eq!(admin.extract().await, Ok(2));

    let listed = all::<GatewayEntry>(registry, GatewayFilter::default()).await;
    assert_eq!(listed.len(), 3);
    assert!(listed.iter().all(|it| it.has_password && it.username.as_deref() == Some("u")));
    assert!(!format!("{listed:?}{}", serde_json::to_string(&listed).unwrap()).contains("very-secret"));

    let name = |port, protocol| GatewayName { host: "gw.invalid".to_owned(), port, region: None, protocol };
    assert_eq!(registry.count_gateways(name(1, None)).await.unwrap(), 2);
    assert_eq!(registry.remove_gateways(name(1, None)).await.unwrap(), 2);
    let gone = rejected!(registry.remove_gateways(name(1, Some(Protocol::Http))).await, Unknown);
    assert!(gone.contains("gw.invalid:1 for http"), "{gone}");
    assert_eq!(admin.extract().await, Ok(1));
}

async fn groups_and_instances_stay_within_their_account(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    registry.add_account(account("other")).await.unwrap();
    let now = Timestamp::now();
    let mine = registry.add_group("acme".to_owned(), "mine".to_owned(), now).await.unwrap().group_id;
    let theirs = registry.add_group("other".to_owned(), "theirs".to_owned(), now).await.unwrap().group_id;
    admin.load(instance(1, "acme", "null", "192.0.2.1") + &instance(2, "acme", "null", "192.0.2.1")).await;
    admin.load(instance(3, "other", &theirs.get().to_string(), "192.0.2.1")).await;

    let both = vec![id(1), id(3)];
    let foreign = rejected!(registry.move_instances(both.clone(), GroupChoice::In(mine)).await, Rejected);
    assert!(foreign.contains("belongs to account \"acme\", but instance 3 to \"other\""), "{foreign}");
    let of = |group| InstanceFilter { group: Some(group), ..InstanceFilter::default() };
    assert!(all::<InstanceEntry>(registry, of(GroupChoice::In(mine))).await.is_empty(), "all or none");
    rejected!(registry.move_instances(vec![id(1)], GroupChoice::In(id(99))).await, Unknown);
    rejected!(registry.move_instances(vec![id(1), id(99)], GroupChoice::In(mine)).await, Unknown);
    registry.move_instances(vec![id(1), id(2)], GroupChoice::In(mine)).await.unwrap();

    let reason = rejected!(registry.remove_group(mine, false).await, InUse);
    assert!(reason.contains("has 2 instances") && reason.contains("--ungroup"), "{reason}");
    assert_eq!(registry.remove_group(mine, true).await.unwrap(), 2);
    assert_eq!(all::<InstanceEntry>(registry, of(GroupChoice::Ungrouped)).await.len(), 2);

    registry.rename_group(theirs, "ours".to_owned(), now + SignedDuration::from_secs(1)).await.unwrap();
    rejected!(registry.rename_group(mine, "gone".to_owned(), now).await, Unknown);
    rejected!(registry.rename_group(theirs, String::new(), now).await, Rejected);
    let groups = all::<GroupRecord>(registry, GroupFilter { account: Some("other".to_owned()) }).await;
    assert!(groups.len() == 1 && groups[0].name == "ours" && groups[0].updated_at > groups[0].created_at);
    assert_eq!(admin.service.groups(&admin.token).await, Ok(Vec::new()));
}

async fn instances_are_found_changed_and_removed(database: Database) {
    let admin = Administration::open(database).await;
    let registry = &admin.registry;
    registry.add_account(account("other")).await.unwrap();
    let lines = [
        (1, "acme", "2001:db8::1"),
        (2, "acme", "192.0.2.9"),
        (3, "other", "192.0.2.1"),
        (4, "acme", "192.0.2.9"),
    ];
    admin.load(lines.map(|(number, account, ip)| instance(number, account, "null", ip)).concat()).await;
    let numbers = async |filter: InstanceFilter| -> Vec<i64> {
        all::<InstanceEntry>(registry, filter).await.iter().map(|it| it.instance_id.get()).collect()
    };
    let any = InstanceFilter::default;
    assert_eq!(numbers(any()).await, [2, 4, 1, 3], "by account, address and number");
    assert_eq!(numbers(InstanceFilter { ip: Some([192, 0, 2, 1].into()), ..any() }).await, [3]);
    assert_eq!(numbers(InstanceFilter { account: Some("other".to_owned()), ..any() }).await, [3]);
    assert_eq!(numbers(InstanceFilter { order_no: Some("SO-4".to_owned()), ..any() }).await, [4]);
    assert_eq!(numbers(InstanceFilter { country_code: Some("DEU".to_owned()), ..any() }).await, [0; 0]);
    assert_eq!(numbers(InstanceFilter { city_code: Some("NYC".to_owned()), ..any() }).await.len(), 4);
    let unknown = registry
        .list::<InstanceEntry, _>(
            InstanceFilter { group: Some(GroupChoice::In(id(9))), ..any() },
            None,
            Vec::new(),
        )
        .await;
    rejected!(unknown.map(drop), Unknown);

    let first = Timestamp::now();
    registry.set_instance_status(vec![id(1), id(2)], Status::Active, first).await.unwrap();
    registry.set_instance_status(vec![id(1)], Status::Expired, first).await.unwrap();
    registry.set_instance_status(vec![id(1)], Status::Active, Timestamp::MAX).await.unwrap();
    let one = registry.instance(id(1)).await.unwrap();
    assert_eq!((one.status, one.activated_at), (Status::Active, Some(first)), "the first time counts");
    assert!(one.has_password && one.capabilities.trial_days == Some(3));
    assert_eq!(registry.instance(id(3)).await.unwrap().activated_at, None);
    assert_eq!(numbers(InstanceFilter { status: Some(Status::Active), ..any() }).await, [2, 1]);
    rejected!(registry.set_instance_status(vec![id(3), id(9)], Status::Failed, first).await, Unknown);
    rejected!(registry.remove_instances(vec![id(3), id(9)]).await, Unknown);
    assert_eq!(registry.instance(id(3)).await.unwrap().status, Status::Provisioning, "all or none");

    registry.set_instance_status(vec![id(2)], Status::Expired, first).await.unwrap();
    registry.renew_instances(vec![id(2), id(3)], Timestamp::MAX, Timestamp::MAX).await.unwrap();
    for (number, status, activated_at) in [(2, Status::Active, Some(first)), (3, Status::Provisioning, None)]
    {
        let renewed = registry.instance(id(number)).await.unwrap();
        let found = (renewed.status, renewed.activated_at, renewed.expires_at);
        assert_eq!(found, (status, activated_at, Some(Timestamp::MAX)));
    }
    rejected!(registry.renew_instances(vec![id(3), id(9)], first, first).await, Unknown);
    assert_eq!(registry.instance(id(3)).await.unwrap().expires_at, Some(Timestamp::MAX), "all or none");
    registry.remove_instances(vec![id(1), id(4)]).await.unwrap();
    assert_eq!(numbers(any()).await, [2, 3]);
}

async fn a_reader_that_has_enough_ends_the_list(database: Database) {
    struct ThreeEntries(u32);
    impl<T> ListConsumer<T> for ThreeEntries {
        fn take(&mut self, _: T) -> std::io::Result<()> {
            self.0 += 1;
            if self.0 == 3 { Err(std::io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
        }
    }
    let store = database.open().await;
    seed(store.as_ref()).await.unwrap();
    let registry = database.registry().await;
    let ended = registry.list::<InstanceEntry, _>(InstanceFilter::default(), None, ThreeEntries(0)).await;
    assert!(matches!(ended, Err(RegistryError::Output(_))));
    let (all, more) =
        registry.list::<InstanceEntry, _>(InstanceFilter::default(), Some(2000), Vec::new()).await.unwrap();
    assert_eq!((all.len(), more), (2000, true));
    // Each once, and the connection is as good as new.
    let mut numbers: Vec<_> = all.iter().map(|it| it.instance_id).collect();
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
                registry.add_gateway(gateway(100 + number, Protocol::Http)).await.unwrap();
                let group = registry.add_group("acme".to_owned(), "g".to_owned(), Timestamp::now()).await;
                group.unwrap().group_id
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
        "account add acme --verified",
        "token issue --account acme",
        "whitelist add --account acme 192.0.2.0/24",
        "entitlement grant --account acme --protocol http",
        "gateway add gw.invalid:1 --region USA --protocol http",
        "group add --account acme east",
    ] {
        let (code, _, error) = run(line);
        assert_eq!(code, Some(0), "{line}: {error}");
    }
    let account = r#"{"name":"acme","realNameVerified":true,"tokens":1,"whitelist":1,"entitlements":1,"groups":1,"instances":0}"#;
    assert_eq!(run("account show acme --json").1.trim_end(), account);
    let listed = r#"{"id":1,"account":"acme","first":"192.0.2.0","last":"192.0.2.255","enabled":true,"expiresAt":null}"#;
    assert_eq!(run("whitelist list --json").1.trim_end(), listed);
    let (code, _, error) = run("account remove acme --yes");
    assert_eq!((code, error.lines().count()), (Some(1), 1), "{error}");
    assert_eq!(run("account remove acme --yes --with-data").0, Some(0));
}

on_both! {
    the_program_has_the_same_commands_on_both,
    a_rotated_token_and_its_successor_are_good_together_for_a_while,
    tokens_are_issued_listed_and_revoked,
    accounts_are_known_by_name,
    an_account_goes_with_all_it_has_or_not_at_all,
    the_whitelist_rejects_what_makes_no_sense,
    gateways_are_added_and_removed_by_their_place,
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
    let names: Vec<_> = all::<AccountRecord>(&registry, AccountFilter::default())
        .await
        .into_iter()
        .map(|it| it.name)
        .collect();
    assert_eq!(names, ["acme", "other"]);
    assert_eq!(all::<EntitlementRecord>(&registry, EntitlementFilter::default()).await.len(), 1);
    registry.add_whitelist(vec![addresses("acme", [1; 4], [1; 4])]).await.unwrap();
    registry.add_group("acme".to_owned(), "g".to_owned(), Timestamp::now()).await.unwrap();
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
