//! Starting and stopping.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use gateway::{Auditor, Gateway, Service, may_listen};
use identity::{Act, Identity};
use serde_json::json;
use tokio::net::TcpSocket;
use tokio::runtime::Runtime as Threads;
use tokio::task::JoinHandle;

use crate::app::App;
use crate::config::Config;
use crate::{descriptors, listen, routes, tls};

/// So many connections wait to be accepted.
const BACKLOG: u32 = 4_096;

/// A server that runs on threads of its own, until it is stopped or dropped.
pub struct Running {
    address: SocketAddr,
    encrypted: bool,
    app: Arc<App>,
    accepting: Option<JoinHandle<()>>,
    /// none: already stopped
    threads: Option<Threads>,
}

/// Why a server does not start.
#[derive(Debug)]
pub enum StartError {
    Listen(SocketAddr, io::Error),
    Threads(io::Error),
    Tls(String),
    /// beyond this machine, and callers would not be known
    Open(SocketAddr),
    Keys(identity::Error),
    /// beyond this machine, and whoever asks could move the clock
    Clock(SocketAddr),
    /// two designs would answer to this name
    Twice(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Listen(address, error) => {
                write!(f, "cannot listen on `{address}`: {error}")
            }
            StartError::Threads(error) => write!(f, "cannot start threads: {error}"),
            StartError::Tls(why) => write!(f, "no TLS: {why}"),
            StartError::Open(address) => {
                write!(f, "`{address}` can be reached from elsewhere, and there are no keys")
            }
            StartError::Keys(error) => write!(f, "{error}"),
            StartError::Clock(address) => write!(
                f,
                "`{address}` can be reached from elsewhere, and a clock that is moved by hand is for \
                 tests on this machine"
            ),
            StartError::Twice(name) => write!(f, "two designs are called `{name}`"),
        }
    }
}

impl std::error::Error for StartError {}

/// Pages that are served beside the designs.
pub struct Pages {
    pub router: Router,
    /// runs until the server stops
    pub beside: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Pages {
    fn none() -> Pages {
        Pages { router: Router::new(), beside: Box::pin(std::future::ready(())) }
    }
}

/// Listens, and serves these designs.
pub fn start(config: Config, services: Vec<Service>) -> Result<Running, StartError> {
    start_with(config, services, Box::new(|_| Pages::none()))
}

/// Makes the pages that stand beside the interface. Boxed, so that all that serves is compiled in this crate, once.
pub type MakePages<'a> = Box<dyn FnOnce(&Arc<Gateway>) -> Pages + 'a>;

/// The same, with pages for people beside them.
pub fn start_with(
    config: Config,
    services: Vec<Service>,
    pages: MakePages<'_>,
) -> Result<Running, StartError> {
    for (at, service) in services.iter().enumerate() {
        if services[..at].iter().any(|earlier| earlier.name == service.name) {
            return Err(StartError::Twice(service.name.clone()));
        }
    }
    let tls = match &config.tls {
        None => None,
        Some((certificate, key)) => Some(tls::acceptor(certificate, key).map_err(StartError::Tls)?),
    };
    if !may_listen(config.listen, &config.access) {
        return Err(StartError::Open(config.listen));
    }
    if config.clock.is_some() && !config.listen.ip().is_loopback() {
        return Err(StartError::Clock(config.listen));
    }
    let identity = match &config.access.identity {
        Some(identity) => Arc::clone(identity),
        None => Arc::new(Identity::in_memory().map_err(StartError::Keys)?),
    };
    let threads = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("server")
        .build()
        .map_err(StartError::Threads)?;
    let wanted = config.listen;
    let listener = {
        let _inside = threads.enter();
        bound(wanted).map_err(|error| StartError::Listen(wanted, error))?
    };
    let address = listener.local_addr().map_err(|error| StartError::Listen(wanted, error))?;
    let auditor = Auditor::start(&identity).map_err(StartError::Threads)?;
    let names: Vec<&str> = services.iter().map(|service| service.name.as_str()).collect();
    let verdicts = services.iter().map(|it| (it.name.clone(), it.standing().to_json()));
    let verdicts: serde_json::Map<_, _> = verdicts.collect();
    let of = json!({ "address": address.to_string(), "designs": names, "verdicts": verdicts });
    auditor.done(Act::ServerStarted, "steadfast", of).map_err(StartError::Keys)?;
    let mut settings = config.settings();
    settings.limits.connections_max = descriptors::connections(settings.limits.connections_max);
    let gateway = Arc::new(Gateway::new(settings, services, identity, auditor));
    let app = Arc::new(App::new(Arc::clone(&gateway), config.origins.clone()));
    let Pages { router, beside } = pages(&gateway);
    let router = routes::router(Arc::clone(&app), router);
    threads.spawn(beside);
    threads.spawn(gateway::collect(Arc::clone(&gateway)));
    if app.settings.checking.is_some() {
        gateway::checking::unknown_ones(&gateway);
    }
    let encrypted = tls.is_some();
    let accepting = threads.spawn(listen::accept(listener, tls, Arc::clone(&app), router));
    Ok(Running { address, encrypted, app, accepting: Some(accepting), threads: Some(threads) })
}

fn bound(address: SocketAddr) -> io::Result<tokio::net::TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // a server that was just stopped may be started again
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Running {
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What its callers share: whoever started the server may replace a design through it.
    pub fn gateway(&self) -> &Arc<Gateway> {
        &self.app.gateway
    }

    /// Where it is, for a client.
    pub fn url(&self) -> String {
        let scheme = if self.encrypted { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Sleeps until the process is asked to end (Ctrl-C or SIGTERM), then stops.
    pub fn until_signal(mut self) {
        if let Some(threads) = &self.threads {
            threads.block_on(signal());
        }
        self.finish();
    }

    /// Takes nothing new, and finishes what was accepted.
    pub fn stop(mut self) {
        self.finish();
    }

    fn finish(&mut self) {
        self.app.stop();
        if let (Some(threads), Some(accepting)) = (self.threads.take(), self.accepting.take()) {
            // whoever serves has said why, if it panicked
            let _ = threads.block_on(accepting);
            threads.shutdown_background();
            let of = json!({ "address": self.address.to_string() });
            // the log said why, if it takes nothing more
            let _ = self.app.auditor.done(Act::ServerStopped, "steadfast", of);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut end) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = end.recv() => {}
    }
}

#[cfg(not(unix))]
async fn signal() {
    let _ = tokio::signal::ctrl_c().await;
}
