//! Connections: accepted up to a limit, served, and let finish when the server stops.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::app::App;

/// Accepts until `stop` says so, then waits for what is under way, but not for ever.
pub async fn accept(
    listener: TcpListener,
    app: Arc<App>,
    router: Router,
    mut stop: watch::Receiver<bool>,
) {
    let connections_max = app.limits().connections_max;
    let room = Arc::new(Semaphore::new(connections_max));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(_) => {
                // out of descriptors, most likely: those who are here go first
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
            // closed at once: whoever waits in line is told sooner than by a timeout
            drop(stream);
            continue;
        };
        // answers are small: waiting to fill a packet would only make them late
        let _ = stream.set_nodelay(true);
        let (app, router, stop) = (Arc::clone(&app), router.clone(), stop.clone());
        tokio::spawn(async move {
            serve(stream, &app, router, stop).await;
            drop(place);
        });
    }
    drop(listener);
    let all = u32::try_from(connections_max).unwrap_or(u32::MAX);
    let finished = room.acquire_many(all);
    let _ = tokio::time::timeout(Duration::from_millis(app.limits().stop_ms_max), finished).await;
}

async fn serve(stream: TcpStream, app: &App, router: Router, mut stop: watch::Receiver<bool>) {
    let limits = app.limits();
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_millis(limits.head_ms_max))
        .max_buf_size(limits.head_bytes_max.max(8 << 10))
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        // a client that breaks off is no news
        _ = &mut connection => return,
        _ = stop.wait_for(|stop| *stop) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
