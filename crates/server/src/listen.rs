//! Connections: accepted up to a limit, served, and let finish when the server stops.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};

use crate::app::App;

/// Accepts until the server is told to stop, then waits for what is under way, but not for ever.
pub async fn accept(listener: TcpListener, app: Arc<App>, router: Router) {
    let stopped = app.stopped();
    tokio::pin!(stopped);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stopped => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(_) => {
                // out of descriptors, most likely: those who are here go first
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(place) = app.connect() else {
            // closed at once: whoever waits in line is told sooner than by a timeout
            drop(stream);
            continue;
        };
        // answers are small: waiting to fill a packet would only make them late
        let _ = stream.set_nodelay(true);
        let (app, router) = (Arc::clone(&app), router.clone());
        tokio::spawn(async move {
            serve(stream, &app, router).await;
            drop(place);
        });
    }
    drop(listener);
    let patience = Duration::from_millis(app.limits().stop_ms_max);
    let finished = async {
        while app.connections() > 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let _ = tokio::time::timeout(patience, finished).await;
}

async fn serve(stream: TcpStream, app: &App, router: Router) {
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
        () = app.stopped() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
