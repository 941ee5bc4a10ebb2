//! Steps over HTTP/1.1 by the short way. They are most of what is asked, and building a request and a
//! response out of general parts costs more than a step. So a connection begins here: requests that are
//! steps and have nothing unusual in their heads are read from its bytes and answered in bytes. With the
//! first other request the connection goes over to the HTTP library, from the first byte of that request on,
//! and stays there. What is done and said is the same both ways: both go by [`step::Asked`].

#[cfg(test)]
mod against_library;
mod head;
mod pause;
mod rewound;
mod said;

pub use rewound::Rewound;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::http::HeaderMap;
use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use crate::app::App;
use crate::problem::OverHttp as _;
use crate::routes::step;
use crate::seats::Seat;
use crate::traced::Traced;
use head::{Found, Head};
use pause::Pause;

/// Room for most requests; more is made for larger ones, and not kept.
const ROOM_BYTES: usize = 4 << 10;
const KEPT_BYTES_MAX: usize = 64 << 10;
/// A body mostly comes with its head or right after it. What takes longer is waited for elsewhere.
const MOMENT: Duration = Duration::from_millis(10);

/// Answers steps until something else comes, which is given back with what was read of it. None: the
/// connection has ended.
pub async fn serve<S>(mut stream: S, app: &Arc<App>, seat: &Seat) -> Option<Rewound<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut read = BytesMut::new();
    let mut headers = HeaderMap::new();
    let (mut room, mut out) = (Vec::new(), Vec::new());
    let mut pause = Pause::new(app);
    loop {
        let head = loop {
            match head::find(app, &read, &mut headers) {
                Found::Step(head) => break head,
                Found::Other => return Some(Rewound::new(read, stream)),
                Found::Part => {}
            }
            if more(&mut stream, &mut read, &mut pause).await == 0 {
                return None;
            }
        };
        let Head { service, call, body } = head;
        if read.len() < body.end {
            let rest = async {
                while read.len() < body.end {
                    read.reserve(body.end - read.len());
                    if stream.read_buf(&mut read).await.unwrap_or(0) == 0 {
                        break;
                    }
                }
            };
            let _ = timeout(MOMENT, rest).await;
            if read.len() < body.end {
                return Some(Rewound::new(read, stream));
            }
        }
        let mut traced = Traced::begin(app, &headers);
        traced.of_step("POST", &service, &call);
        let sent = &read[body.clone()];
        let answer = match step::Asked::read(app, &headers, traced.trace().cloned()) {
            Ok(asked) => asked.answered(app, &service, &call, sent, room).await,
            Err(problem) => Err(problem),
        };
        if !matches!(&answer, Err(problem) if problem.is_of_stranger()) {
            seat.is_known();
        }
        read.advance(body.end);
        if read.is_empty() && read.capacity() > KEPT_BYTES_MAX {
            read = BytesMut::new();
        }
        let last = app.is_stopping();
        out.clear();
        room = said::write(app, traced, answer, last, &mut out);
        // a client that breaks off is no news
        if stream.write_all(&out).await.is_err() || last {
            // an encrypted stream is told that this was all
            let _ = stream.shutdown().await;
            return None;
        }
        pause.begin();
    }
}

/// Reads what has come; nothing when the connection ends, or is to end.
async fn more<S>(stream: &mut S, read: &mut BytesMut, pause: &mut Pause) -> usize
where
    S: AsyncRead + Unpin,
{
    read.reserve(ROOM_BYTES);
    poll_fn(|context| {
        if let Poll::Ready(count) = pin!(stream.read_buf(read)).poll(context) {
            return Poll::Ready(count.unwrap_or(0));
        }
        pause.poll_end(context).map(|()| 0)
    })
    .await
}
