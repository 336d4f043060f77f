//! CPU of an extraction, against that of a constant answer from a bare Dropshot handler.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
};

use dropshot::{
    ApiDescription, ConfigDropshot, HttpError, HttpResponseOk, RequestContext, ServerBuilder, endpoint,
};
use sallyport_server::{
    Config, api::generated::ExtractProxies, data::seed::seed, edge::answer::Operation as _, start,
};
use tokio::runtime::Runtime;

use super::{Backend, say};

/// Name of the threads that serve, by which their CPU is told from the callers'.
pub(crate) const SERVER_THREAD: &str = "bench-server";

const REQUESTS: u32 = 20_000;

#[endpoint { method = GET, path = "/constant" }]
async fn constant(_: RequestContext<()>) -> Result<HttpResponseOk<&'static str>, HttpError> {
    Ok(HttpResponseOk("constant"))
}

pub(crate) fn bench(runtime: &Runtime, backend: &Backend) {
    let (bare, ours, token, region) = runtime.block_on(async {
        let mut api = ApiDescription::new();
        api.register(constant).unwrap();
        let log = slog::Logger::root(slog::Discard, slog::o!());
        let config = ConfigDropshot {
            default_handler_task_mode: dropshot::HandlerTaskMode::CancelOnDisconnect,
            ..ConfigDropshot::default()
        };
        let bare = ServerBuilder::new(api, (), log).config(config).start().unwrap();
        let store = backend.open().await;
        let sample = seed(store.as_ref()).await.unwrap();
        let ours = start(Config::loopback(store)).unwrap();
        (bare, ours, sample.tokens.main.expose().to_owned(), sample.plentiful_region)
    });
    let target = format!("{}?api_key={token}&num=1&regions={region}", ExtractProxies::PATH);
    let floor = cpu(bare.local_addr(), "/constant");
    let extraction = cpu(ours.address(), &target);
    say(
        backend,
        "extraction, µs of CPU (ratio to a constant)",
        format_args!("{extraction:.1} ({:.2})", extraction / floor),
    );
    runtime.block_on(async {
        assert!(ours.close(std::time::Duration::from_secs(5)).await);
        bare.close().await.unwrap();
    });
}

/// Microseconds of CPU that the serving threads use for one request.
fn cpu(address: SocketAddr, target: &str) -> f64 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let request = format!("GET {target} HTTP/1.1\r\nHost: bench\r\n\r\n");
    let mut answer = [0; 4096];
    let mut call = || {
        stream.write_all(request.as_bytes()).unwrap();
        // Answers are far smaller than the buffer, and come in one piece on a local socket.
        let length = stream.read(&mut answer).unwrap();
        assert!(
            answer[..length].starts_with(b"HTTP/1.1 200"),
            "{}",
            String::from_utf8_lossy(&answer[..length])
        );
    };
    (0..REQUESTS / 10).for_each(|_| call());
    let before = used();
    (0..REQUESTS).for_each(|_| call());
    (used() - before) / f64::from(REQUESTS)
}

/// Microseconds of CPU that the serving threads of this process have used.
fn used() -> f64 {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    threads
        .filter_map(|thread| {
            let folder = thread.unwrap().path();
            let name = fs::read_to_string(folder.join("comm")).ok()?;
            let served = name.trim_end() == SERVER_THREAD;
            // The first number is the time on the processor, in nanoseconds.
            let times = fs::read_to_string(folder.join("schedstat")).ok().filter(|_| served)?;
            times.split_whitespace().next()?.parse::<f64>().ok()
        })
        .sum::<f64>()
        / 1e3
}
