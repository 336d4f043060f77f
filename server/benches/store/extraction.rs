//! CPU of an extraction, against that of a constant response from a bare Dropshot handler to the same request.

use std::{
    fs,
    hint::spin_loop,
    io::{ErrorKind, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
};

use dropshot::{
    ApiDescription, ApiEndpoint, ApiEndpointVersions, ConfigDropshot, HttpError, HttpResponseOk, HttpServer,
    RequestContext, ServerBuilder,
};
use http::Method;
use sallyport_server::{
    Config, RunningServer,
    api::generated::ExtractProxies,
    data::seed::{Sample, seed},
    edge::operation::Operation as _,
    start,
};
use tokio::runtime::Runtime;

use super::{Backend, figure, median, rounds};

/// Name of the threads that serve, by which their CPU is told from the callers'.
pub(crate) const SERVER_THREAD: &str = "bench-server";

const ROUNDS: u64 = 21;
const CALLS: u32 = 100;
const CONNECTIONS: u32 = 32;

async fn constant(_: RequestContext<()>) -> Result<HttpResponseOk<&'static str>, HttpError> {
    Ok(HttpResponseOk("constant"))
}

/// A server on a backend, beside a bare one.
pub(crate) struct Bench<'a> {
    runtime: &'a Runtime,
    backend: &'a Backend,
    bare: HttpServer<()>,
    ours: RunningServer,
    sample: Sample,
}

impl<'a> Bench<'a> {
    /// Adds the sample data to the database, which must be without it.
    pub(crate) fn start(runtime: &'a Runtime, backend: &'a Backend) -> Self {
        runtime.block_on(async {
            let mut api = ApiDescription::new();
            // On the same path: to split one into its segments costs something, too.
            let (method, path, versions) = (Method::GET, ExtractProxies::PATH, ApiEndpointVersions::All);
            let endpoint =
                ApiEndpoint::new("constant".to_owned(), constant, method, "application/json", path, versions);
            api.register(endpoint).unwrap();
            let log = slog::Logger::root(slog::Discard, slog::o!());
            let config = ConfigDropshot {
                default_handler_task_mode: dropshot::HandlerTaskMode::CancelOnDisconnect,
                ..ConfigDropshot::default()
            };
            let bare = ServerBuilder::new(api, (), log).config(config).start().unwrap();
            let store = backend.open().await;
            let sample = seed(store.as_ref()).await.unwrap();
            let ours = start(Config::loopback(store)).unwrap();
            Self { runtime, backend, bare, ours, sample }
        })
    }

    /// Extracts so many gateways at once.
    pub(crate) fn run(&self, count: u32, how: &str) {
        let (token, region) = (self.sample.tokens.main.expose(), &self.sample.plentiful_region);
        let query = format!("?api_key={token}&num={count}&regions={region}");
        let mut bare = Caller::connect(self.bare.local_addr(), &format!("{}{query}", ExtractProxies::PATH));
        let mut ours = Caller::connect(self.ours.address(), &format!("{}{query}", ExtractProxies::PATH));
        // Turn about, so that whatever disturbs the machine disturbs both.
        let rounds: Vec<(f64, f64)> = (0..rounds(ROUNDS)).map(|_| (bare.cpu(), ours.cpu())).collect();
        let ratio = median(rounds.iter().map(|(bare, ours)| ours / bare).collect());
        let [bare, ours] = [0, 1].map(|side| {
            median(rounds.iter().map(|(bare, ours)| if side == 0 { *bare } else { *ours }).collect())
        });
        figure(
            self.backend.name,
            &format!("extraction of {count}{how}, µs of CPU"),
            format_args!("{ours:.1} ({ratio:.2} of a constant, {bare:.1})"),
        );
    }

    pub(crate) fn stop(self) {
        self.runtime.block_on(async {
            assert!(self.ours.close(std::time::Duration::from_secs(5)).await);
            self.bare.close().await.unwrap();
        });
    }
}

/// A caller on a few connections who never sleeps, so that the server is busy all the time and nobody has to be woken:
/// what the machine spends on that is more than a request takes, and depends on who is faster.
struct Caller {
    streams: Vec<TcpStream>,
    request: String,
}

impl Caller {
    fn connect(address: SocketAddr, target: &str) -> Self {
        let connect = |_| {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_nodelay(true).unwrap();
            stream.set_nonblocking(true).unwrap();
            stream
        };
        let streams = (0..CONNECTIONS).map(connect).collect();
        Self { streams, request: format!("GET {target} HTTP/1.1\r\nHost: bench\r\n\r\n") }
    }

    /// One request on each connection.
    fn call(&mut self) {
        for stream in &mut self.streams {
            stream.write_all(self.request.as_bytes()).unwrap();
        }
        let mut response = [0; 16 << 10];
        for stream in &mut self.streams {
            // Responses are smaller than the buffer, and come in one piece on a local socket.
            let length = loop {
                match stream.read(&mut response) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => spin_loop(),
                    read => break read.unwrap(),
                }
            };
            let response = &response[..length];
            assert!(response.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(response));
        }
    }

    /// Microseconds of CPU that the serving threads use for one request.
    fn cpu(&mut self) -> f64 {
        (0..CALLS / 10).for_each(|_| self.call());
        let before = used();
        (0..CALLS).for_each(|_| self.call());
        (used() - before) / f64::from(CALLS * CONNECTIONS)
    }
}

/// Microseconds of CPU that the serving threads of this process have used.
fn used() -> f64 {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    threads
        .filter_map(|thread| {
            let folder = thread.unwrap().path();
            let name = fs::read_to_string(folder.join("comm")).ok()?;
            let served = name.trim_end() == SERVER_THREAD;
            super::cpu_of(&folder).filter(|_| served)
        })
        .sum()
}
