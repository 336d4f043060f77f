//! Callers who hang up while the database is busy with what they asked for.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sallyport_server::{
    Config,
    api::generated::{ExtractProxies, ListStaticGroups},
    data::seed::seed,
    edge::operation::Operation as _,
    start,
    store::postgres::Limits,
};

use super::{
    backend::{Database, connect},
    cluster::eventually,
    processes::get,
    wire::exchange,
};

const CONNECTIONS: usize = 2;
const CALLERS: usize = 200;

/// What a good caller may have to wait at most. Every statement of a caller who left takes a second, so if they queued up
/// it would be 100 seconds.
const SOON: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_who_hang_up_do_not_queue_up_statements() {
    let Some(database) = Database::postgres().await else { return };
    let sample = seed(database.open().await.as_ref()).await.unwrap();
    let limits = Limits {
        connections: CONNECTIONS,
        wait: Duration::from_millis(500),
        statement: Duration::from_secs(1),
    };
    let store = database.open_within(limits).await;
    let running = start(Config::loopback(Arc::clone(&store) as _)).unwrap();
    let address = running.address();
    let token = sample.tokens.main.expose();
    // Both connections know the token, so that the next question is the one about the extraction.
    let groups = format!("{}?api_key={token}", ListStaticGroups::PATH);
    let ask = async || get(address, &groups).await.unwrap().status;
    assert_eq!(ask().await, 200);

    let admin = connect(&database.name()).await.unwrap();
    admin.batch_execute("BEGIN; LOCK TABLE extractions IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let watching = connect(&database.name()).await.unwrap();
    let mut most_under_way = 0;
    for number in 0..CALLERS {
        let target = format!("{}?api_key={token}&num=1&request_id={number}", ExtractProxies::PATH);
        let stream = exchange(address, &[format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()]);
        tokio::time::sleep(Duration::from_millis(5)).await;
        drop(stream);
        let under_way = watching
            .query_one(
                "SELECT count(*) FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = 'sallyport' AND state <> 'idle'",
                &[],
            )
            .await
            .unwrap();
        most_under_way = most_under_way.max(under_way.get::<_, i64>(0));
        assert!(store.pool().busy <= CONNECTIONS);
    }
    assert!((1..=CONNECTIONS as i64).contains(&most_under_way), "{most_under_way} statements were under way");

    // The lock is still held, so that what is under way only ends by its own time limit.
    let begun = Instant::now();
    loop {
        let status = ask().await;
        assert!(begun.elapsed() < SOON, "{status} after {:?}", begun.elapsed());
        match status {
            200 => break,
            503 => {}
            other => panic!("{other}"),
        }
    }
    drop(admin);
    eventually(async || match store.pool().busy {
        0 => Ok(()),
        busy => Err(format!("{busy} connections are in use that nobody uses")),
    })
    .await;
    assert_eq!(ask().await, 200);
    assert!(running.close(Duration::from_secs(10)).await);
}
