//! The cap on work under way, callers who leave, and the drain.

use std::{
    io::Write,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use sallyport_server::{
    Config, Running,
    api::generated::{ListStaticGroups, SearchStaticInstances},
    edge::{answer::Operation, body::MAX_BYTES, catalogue::Reason},
    start,
};
use tokio::sync::Semaphore;

use super::{
    get,
    held::Held,
    wire::{exchange, read},
};

fn held(max_in_flight: usize) -> (Running, Arc<Held>) {
    let store = Arc::new(Held(Semaphore::new(0)));
    let admin = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    let config = Config { max_in_flight, admin, ..Config::loopback(store.clone()) };
    (start(config).unwrap(), store)
}

fn head() -> String {
    format!("GET {}?api_key=t HTTP/1.1\r\nHost: x\r\n\r\n", ListStaticGroups::PATH)
}

/// Waits, within bounds, until the operator's page has this line.
async fn seen(running: &Running, line: &str) {
    for _ in 0..200 {
        let page = get(running.admin_address().unwrap(), "/metrics".to_owned(), String::new()).await;
        if page.body.lines().any(|it| it == line) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no `{line}` in the metrics");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_much_is_shed_at_once_and_slow_callers_keep_nobody_out() {
    let (running, store) = held(2);
    let address = running.address();
    let body = format!(
        "POST {}?api_key=t HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{{",
        SearchStaticInstances::PATH
    );
    let _slow: Vec<_> = (0..5).map(|_| exchange(address, &[body.as_bytes()])).collect();
    let working: Vec<_> = (0..2).map(|_| exchange(address, &[head().as_bytes()])).collect();
    seen(&running, "sallyport_calls_in_flight 7").await;

    let shed = get(address, format!("{}?api_key=t", ListStaticGroups::PATH), String::new()).await;
    assert_eq!((shed.status, shed.json()["code"].as_i64()), (503, Some(Reason::Overloaded.code())));
    assert_eq!(shed.header("retry-after"), Some("1"));
    seen(
        &running,
        "sallyport_calls_total{operation=\"listStaticGroups\",outcome=\"shed\",status=\"503\",code=\"50304\"} 1",
    )
    .await;

    store.0.add_permits(3);
    for stream in working {
        assert_eq!(tokio::task::spawn_blocking(|| read(stream)).await.unwrap().status, 401);
    }
    let later = get(address, format!("{}?api_key=t", ListStaticGroups::PATH), String::new()).await;
    assert_eq!(later.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_arrive_share_their_room() {
    let (running, store) = held(1);
    store.0.add_permits(100);
    let address = running.address();
    let search = |length: usize| {
        format!(
            "POST {}?api_key=t HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n",
            SearchStaticInstances::PATH
        )
    };
    let asked = |body: Vec<u8>| {
        let stream = exchange(address, &[search(body.len()).as_bytes(), &body]);
        tokio::task::spawn_blocking(|| read(stream))
    };
    let good = |spaces: usize| [b"{\"ips\":[\"192.0.2.1\"]}".to_vec(), vec![b' '; spaces]].concat();
    let large = MAX_BYTES / 3 * 2;
    assert_eq!(asked(good(large)).await.unwrap().status, 401, "there is room for one");

    let half_sent = exchange(address, &[search(MAX_BYTES).as_bytes(), &vec![b' '; large]]);
    let mut shed = asked(good(large)).await.unwrap();
    // The half may still be on its way.
    for _ in 0..100 {
        if shed.status == 503 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
        shed = asked(good(large)).await.unwrap();
    }
    assert_eq!((shed.status, shed.json()["code"].as_i64()), (503, Some(Reason::Overloaded.code())));
    assert_eq!(shed.header("retry-after"), Some("1"));
    assert_eq!(asked(good(0)).await.unwrap().status, 401, "there is room for a small one");

    drop(half_sent);
    seen(&running, "sallyport_calls_in_flight 0").await;
    assert_eq!(asked(good(large)).await.unwrap().status, 401, "the room is given back");
}

#[tokio::test(flavor = "multi_thread")]
async fn work_ends_when_its_caller_leaves() {
    let (running, _store) = held(1);
    let stream = exchange(running.address(), &[head().as_bytes()]);
    seen(&running, "sallyport_calls_in_flight 1").await;
    drop(stream);
    seen(&running, "sallyport_calls_in_flight 0").await;
    seen(
        &running,
        "sallyport_calls_total{operation=\"listStaticGroups\",outcome=\"left\",status=\"0\",code=\"0\"} 1",
    )
    .await;
}

/// Everything that is logged on this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// On one thread, whose log is looked at.
#[tokio::test]
async fn a_caller_who_leaves_is_a_line_in_the_log() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let _here = tracing::subscriber::set_default(subscriber);
    let (running, _store) = held(1);
    let stream = exchange(running.address(), &[head().as_bytes()]);
    seen(&running, "sallyport_calls_in_flight 1").await;
    drop(stream);
    seen(&running, "sallyport_calls_in_flight 0").await;
    let log = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    let line = log.lines().find(|line| line.contains("outcome=\"left\"")).unwrap();
    assert!(line.contains(ListStaticGroups::ID) && line.contains("request_id="), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_waits_for_calls_under_way() {
    let (running, store) = held(9);
    let address = running.address();
    let stream = exchange(address, &[head().as_bytes()]);
    seen(&running, "sallyport_calls_in_flight 1").await;
    let closing = tokio::spawn(running.close(Duration::from_secs(10)));
    // Long enough for a server that does not wait to be gone.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!closing.is_finished());
    store.0.add_permits(1);
    assert_eq!(tokio::task::spawn_blocking(|| read(stream)).await.unwrap().status, 401);
    assert!(closing.await.unwrap());
}
