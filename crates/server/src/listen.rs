//! Connections: accepted up to a limit, served, and let finish when the server stops.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::app::App;
use crate::patient::Patient;
use crate::seats::Seat;
use crate::{quick, routes, tls};

/// Refused connections are told of this often at most.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Accepts until the server is told to stop, then waits for what is under way, but not for ever.
pub async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    app: Arc<App>,
    router: Router,
) {
    let stopped = app.stopped();
    tokio::pin!(stopped);
    let mut refused = Refused::default();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stopped => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                refused.tell(&error.to_string());
                // out of descriptors, most likely: those who are here go first
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(seat) = app.seats.take() else {
            // closed at once: whoever waits in line is told sooner than by a timeout
            drop(stream);
            refused.tell("as many callers are connected as the limits allow");
            continue;
        };
        // answers are small: waiting to fill a packet would only make them late
        let _ = stream.set_nodelay(true);
        let stream = Patient::new(stream, Duration::from_millis(app.limits().stall_ms_max));
        let (app, router, tls) = (Arc::clone(&app), router.clone(), tls.clone());
        tokio::spawn(async move {
            let served = async {
                match tls {
                    None => serve(stream, &app, router, &seat).await,
                    Some(tls) => serve_encrypted(&tls, stream, &app, router, &seat).await,
                }
            };
            tokio::select! {
                biased;
                () = served => {}
                () = seat.shown_out() => tracing::debug!("a stranger made room for another"),
            }
        });
    }
    drop(listener);
    let patience = Duration::from_millis(app.limits().stop_ms_max);
    let finished = async {
        while app.seats.taken() > 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let _ = tokio::time::timeout(patience, finished).await;
}

/// Connections that were not taken. A line for each would be as many as whoever floods the server likes.
#[derive(Default)]
struct Refused {
    told: Option<Instant>,
    since: u64,
}

impl Refused {
    fn tell(&mut self, reason: &str) {
        self.since += 1;
        if self.told.is_some_and(|told| told.elapsed() < TELL_EVERY) {
            return;
        }
        tracing::warn!(reason, connections = self.since, "connections were refused");
        *self = Refused { told: Some(Instant::now()), since: 0 };
    }
}

/// Agrees on a key and a protocol first, in the time that a head may take.
async fn serve_encrypted(
    tls: &TlsAcceptor,
    stream: Patient<TcpStream>,
    app: &Arc<App>,
    router: Router,
    seat: &Arc<Seat>,
) {
    let patience = Duration::from_millis(app.limits().head_ms_max);
    // whoever does not come to an agreement is no news, either
    let stream = match tokio::time::timeout(patience, tls.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(%error, "no agreement on TLS"),
        Err(_) => return tracing::debug!("no agreement on TLS in time"),
    };
    if stream.get_ref().1.alpn_protocol() != Some(tls::HTTP_2) {
        return serve(stream, app, router, seat).await;
    }
    let limits = app.limits();
    let answer =
        |request| routes::answer(Arc::clone(app), router.clone(), Arc::clone(seat), request);
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX))
        .keep_alive_interval(patience)
        .serve_connection(TokioIo::new(stream), service_fn(answer));
    tokio::pin!(connection);
    tokio::select! {
        _ = &mut connection => return,
        () = app.stopped() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// Steps by the short way, and from the first other request on by the HTTP library.
pub async fn serve<S>(stream: S, app: &Arc<App>, router: Router, seat: &Arc<Seat>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    if let Some(stream) = quick::serve(stream, app, seat).await {
        by_library(stream, app, router, seat).await;
    }
}

/// Whatever a client of HTTP/1.1 may ask.
pub async fn by_library<S>(stream: S, app: &Arc<App>, router: Router, seat: &Arc<Seat>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let limits = app.limits();
    let answer =
        |request| routes::answer(Arc::clone(app), router.clone(), Arc::clone(seat), request);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_millis(limits.head_ms_max))
        .max_buf_size(limits.head_bytes_max.max(8 << 10))
        .serve_connection(TokioIo::new(stream), service_fn(answer))
        .with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        // it is polled many times for each request, and nearly always it is the connection
        biased;
        // a client that breaks off is no news
        _ = &mut connection => return,
        () = app.stopped() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
