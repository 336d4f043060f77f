//! What stands before the operations, over real sockets: the cap on work under way, callers who leave, and the drain. `tests/sessions` has
//! the rest.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    time::Duration,
};

use sallyport_contract::table::Limit;
use sallyport_server::{
    Config, RunningServer,
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    contract_page,
    data::seed::seed,
    domain::token::Token,
    edge::{operation::Operation, reading::body::MAX_BYTES, responding::error_code::ErrorCode},
    start,
    store::Store,
};

use crate::support::{
    frames::{END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS, frame, get as get_headers},
    paused_store::PausedStore,
    shared_buffer::SharedBuffer,
    wire::{Response, ask, exchange, read},
};

async fn get(address: SocketAddr, target: String) -> Response {
    ask(address, format!("GET {target} HTTP/1.1"), Vec::new()).await.unwrap()
}

async fn start_paused(max_in_flight: usize) -> (RunningServer, PausedStore) {
    let store = PausedStore::new().await;
    let admin = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    let config = Config { max_in_flight, admin, ..Config::loopback(store.store.clone()) };
    (start(config).unwrap(), store)
}

fn head() -> String {
    format!("GET {}?api_key=t HTTP/1.1\r\nHost: x\r\n\r\n", ListStaticGroups::PATH)
}

/// The number behind this name on the operator's page, 0 where it is absent.
async fn counted(running: &RunningServer, name: &str) -> u64 {
    let page = get(running.admin_address().unwrap(), "/metrics".to_owned()).await;
    let number = page.body.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    number.unwrap_or_default()
}

/// Waits, within bounds, until the operator's page has this line.
async fn wait_for_line(running: &RunningServer, line: &str) {
    wait_for(running, |it| it == line).await;
}

/// Waits, within bounds, until the operator's page has such a line.
async fn wait_for(running: &RunningServer, such: impl Fn(&str) -> bool) {
    for _ in 0..200 {
        let page = get(running.admin_address().unwrap(), "/metrics".to_owned()).await;
        if page.body.lines().any(&such) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no such line in the metrics");
}

/// Sends a search whose body does not end, and waits until the server reads the body: before that it checks the token, which counts
/// as work.
fn begin_search(address: SocketAddr, token: &Token) -> TcpStream {
    const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
    let head = format!(
        "POST {}?api_key={} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n",
        SearchStaticInstances::PATH,
        token.expose()
    );
    let mut stream = exchange(address, &[head.as_bytes()]);
    let mut reply = [0; CONTINUE.len()];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(reply, CONTINUE, "{}", String::from_utf8_lossy(&reply));
    stream.write_all(b"{").unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_much_is_shed_at_once_and_slow_callers_keep_nobody_out() {
    let (running, store) = start_paused(2).await;
    let address = running.address();
    let _slow: Vec<_> = (0..5).map(|_| begin_search(address, &store.token)).collect();
    let working: Vec<_> = (0..2).map(|_| exchange(address, &[head().as_bytes()])).collect();
    wait_for_line(&running, "sallyport_calls_in_flight 7").await;

    let shed = get(address, format!("{}?api_key=t", ListStaticGroups::PATH)).await;
    assert_eq!((shed.status, shed.json()["code"].as_i64()), (503, Some(ErrorCode::Overloaded.number())));
    assert_eq!(shed.header("retry-after"), Some("1"));
    wait_for_line(
        &running,
        "sallyport_calls_total{operation=\"listStaticGroups\",outcome=\"shed\",status=\"503\",code=\"50304\"} 1",
    )
    .await;

    store.permits.add_permits(3);
    for stream in working {
        assert_eq!(tokio::task::spawn_blocking(|| read(stream)).await.unwrap().status, 401);
    }
    let later = get(address, format!("{}?api_key=t", ListStaticGroups::PATH)).await;
    assert_eq!(later.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_arrive_share_their_room() {
    let store = PausedStore::new().await;
    // Calls of a proxy have no share of their own, so that one body may take nearly all.
    let trusted_proxies = ["127.0.0.1".parse().unwrap()].into_iter().collect();
    let admin = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    let config = Config { max_in_flight: 1, admin, trusted_proxies, ..Config::loopback(store.store.clone()) };
    let running = start(config).unwrap();
    store.permits.add_permits(100);
    let (address, token) = (running.address(), store.token.expose());
    let search = |length: usize| {
        format!(
            "POST {}?api_key={token} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n",
            SearchStaticInstances::PATH
        )
    };
    let asked = |body: Vec<u8>| {
        let stream = exchange(address, &[search(body.len()).as_bytes(), &body]);
        tokio::task::spawn_blocking(|| read(stream))
    };
    let good = |spaces: usize| [b"{\"ips\":[\"192.0.2.1\"]}".to_vec(), vec![b' '; spaces]].concat();
    let large = MAX_BYTES / 3 * 2;
    assert_eq!(asked(good(large)).await.unwrap().status, 200, "one fits");

    // The half may still be on its way when the other comes, and be the one that does not fit.
    let mut pauses = (1..20).map(|number| Duration::from_millis(10 * number));
    let (half_sent, shed) = loop {
        let half_sent = exchange(address, &[search(MAX_BYTES).as_bytes(), &vec![b' '; large]]);
        tokio::time::sleep(pauses.next().expect("no large body is shed")).await;
        let shed = asked(good(large)).await.unwrap();
        if shed.status == 503 {
            break (half_sent, shed);
        }
    };
    assert_eq!((shed.status, shed.json()["code"].as_i64()), (503, Some(ErrorCode::Overloaded.number())));
    assert_eq!(shed.header("retry-after"), Some("1"));
    assert_eq!(asked(good(0)).await.unwrap().status, 200, "a small one fits");

    drop(half_sent);
    wait_for_line(&running, "sallyport_calls_in_flight 0").await;
    assert_eq!(asked(good(large)).await.unwrap().status, 200, "the memory is free again");
}

/// What has a deadline is a caller who does nothing, not a server that is slow.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_under_way_outlives_the_deadline_of_its_connection() {
    let store = PausedStore::new().await;
    let connection_timeout = Duration::from_secs(1);
    let running = start(Config { connection_timeout, ..Config::loopback(store.store.clone()) }).unwrap();
    let stream = exchange(running.address(), &[head().as_bytes()]);
    // Some rounds of the stall monitor.
    tokio::time::sleep(4 * connection_timeout).await;
    store.permits.add_permits(1);
    assert_eq!(tokio::task::spawn_blocking(|| read(stream)).await.unwrap().status, 401);
}

/// Responses that wait to be read have bounded memory: a caller over HTTP/2 without a window fills that of one connection.
#[tokio::test(flavor = "multi_thread")]
async fn responses_that_nobody_reads_are_bounded() {
    let store = Arc::new(Store::temporary().unwrap());
    let token = seed(&store).await.unwrap().tokens.main;
    let admin = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    let running = start(Config { max_in_flight: 1, admin, ..Config::loopback(store) }).unwrap();
    let most = ExtractProxies::document().part("num").unwrap().schema.limit(Limit::Maximum).unwrap();
    let largest = format!("{}?num={most}&api_key={}", ExtractProxies::PATH, token.expose());
    let window_of_nothing = frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]);
    let mut deaf = exchange(running.address(), &[PREFACE, &window_of_nothing]);
    let headers = get_headers(&largest);
    let successes = format!(
        "sallyport_calls_total{{operation=\"{}\",outcome=\"success\",status=\"200\",code=\"0\"}}",
        ExtractProxies::ID
    );
    let shed = successes
        .replace("success", "shed")
        .replace("200", "503")
        .replace("\"0\"", &format!("\"{}\"", ErrorCode::Overloaded.number()));
    // One after the other, so that there is never too much work under way.
    let mut served = 0;
    for number in 0..200 {
        deaf.write_all(&frame(HEADERS, END_HEADERS | END_STREAM, 2 * number + 1, &headers)).unwrap();
        wait_for(&running, |line| {
            line == format!("{successes} {}", served + 1) || line == format!("{shed} 1")
        })
        .await;
        if counted(&running, &shed).await == 1 {
            break;
        }
        served += 1;
    }
    // Half a MiB for one request, of which one address may have half.
    let share = 256 << 10;
    let length = get(running.address(), largest).await.body.len();
    // Hosts and ports differ in length.
    let held = served * length;
    assert!(held > share / 10 * 9 && held < share / 10 * 11, "{served} of {length} bytes");
    drop(deaf);
}

/// On one thread, whose log is looked at.
#[tokio::test]
async fn work_ends_when_its_caller_leaves_which_is_counted_and_logged() {
    let log = SharedBuffer::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    // With a single subscriber, tracing asks only the thread that reaches an event first whether to record it. That may be the
    // thread of another test, which has no subscriber. With a second subscriber, it asks all of them.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let _here = tracing::subscriber::set_default(subscriber);
    let (running, _store) = start_paused(1).await;
    let stream = exchange(running.address(), &[head().as_bytes()]);
    wait_for_line(&running, "sallyport_calls_in_flight 1").await;
    drop(stream);
    wait_for_line(&running, "sallyport_calls_in_flight 0").await;
    wait_for_line(
        &running,
        "sallyport_calls_total{operation=\"listStaticGroups\",outcome=\"left\",status=\"0\",code=\"0\"} 1",
    )
    .await;
    let log = log.text();
    let line = log.lines().find(|line| line.contains("outcome=\"left\"")).unwrap();
    assert!(line.contains(ListStaticGroups::ID) && line.contains("request_id="), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storage_that_hangs_is_not_ready_and_the_process_is_healthy() {
    let (running, store) = start_paused(9).await;
    let admin = running.admin_address().unwrap();
    let page = async |path: &str| get(admin, path.to_owned()).await;
    let ready = page("/readyz").await;
    assert_eq!((ready.status, ready.body.as_str()), (503, "the storage does not respond in time\n"));
    assert_eq!(page("/healthz").await.status, 200);
    assert_eq!(page("/docs").await.body, contract_page());
    store.permits.add_permits(1);
    assert_eq!(page("/readyz").await.status, 200);
    assert!(running.close(Duration::from_secs(5)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_waits_for_calls_under_way() {
    let (running, store) = start_paused(9).await;
    let address = running.address();
    let stream = exchange(address, &[head().as_bytes()]);
    wait_for_line(&running, "sallyport_calls_in_flight 1").await;
    let closing = tokio::spawn(running.close(Duration::from_secs(10)));
    // Long enough for a server that does not wait to be gone.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!closing.is_finished());
    store.permits.add_permits(1);
    assert_eq!(tokio::task::spawn_blocking(|| read(stream)).await.unwrap().status, 401);
    assert!(closing.await.unwrap());
}
