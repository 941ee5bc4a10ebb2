//! How far the feed has come, and who waits for more: one task for the whole server.
//!
//! It hears of commits of this server at once, of those of others by `NOTIFY`, and asks for the head now and then in any
//! case: news may be lost, and are told after the commit that they are about. They are told from here, at most so often,
//! and not by commits: a `NOTIFY` in every commit makes commits wait for each other.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use store::{Cursor, Error};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{AsyncMessage, Client};

use crate::commits::at;
use crate::connecting::Connector;
use crate::reads::Reader;

/// The head is asked for so often, if nothing is heard.
const POLL_LISTENING: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(100);
/// News are told at most so often.
const TELL_GAP: Duration = Duration::from_millis(5);
/// After a connection that listened was lost.
const AGAIN: Duration = Duration::from_secs(1);
const REQUEST: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    position: u64,
    closed: bool,
}

pub struct Tail {
    seen: watch::Sender<Seen>,
    /// The newest commit of this server.
    ours: watch::Sender<u64>,
}

impl Tail {
    pub fn new(position: u64) -> Self {
        let seen = watch::Sender::new(Seen { position, closed: false });
        Tail { seen, ours: watch::Sender::new(position) }
    }

    /// A commit of this server is durable.
    pub fn committed(&self, position: u64) {
        self.reached(position);
        self.ours.send_if_modified(|ours| {
            let more = position > *ours;
            *ours = position.max(*ours);
            more
        });
    }

    /// Somebody saw that the feed has come so far.
    pub fn reached(&self, position: u64) {
        self.seen.send_if_modified(|seen| {
            let more = position > seen.position;
            seen.position = position.max(seen.position);
            more
        });
    }

    pub fn close(&self) {
        self.seen.send_modify(|seen| seen.closed = true);
    }

    pub fn is_closed(&self) -> bool {
        self.seen.borrow().closed
    }

    /// Waits for something after this cursor.
    pub async fn changed(&self, after: Cursor) -> Result<Cursor, Error> {
        let mut receiver = self.seen.subscribe();
        let news = |seen: &Seen| seen.closed || seen.position > after.position();
        let seen = *receiver.wait_for(news).await.map_err(|_| Error::Closed)?;
        if seen.position > after.position() { Ok(at(seen.position)) } else { Err(Error::Closed) }
    }

    /// Without a connection that listens.
    pub async fn poll(self: Arc<Self>, reader: Arc<Reader>) {
        while !self.is_closed() {
            sleep(POLL).await;
            self.ask(&reader).await;
        }
    }

    async fn ask(&self, reader: &Reader) {
        // whoever calls meets the same, and is told
        if let Ok((_, head)) = reader.read(Vec::new()).await {
            self.reached(head);
        }
    }

    /// Listens, and tells others, on a connection of its own.
    pub async fn listen(
        self: Arc<Self>,
        connector: Connector,
        channel: String,
        reader: Arc<Reader>,
    ) {
        let mut said = false;
        while !self.is_closed() {
            let why = self.listen_once(&connector, &channel, &reader).await;
            if self.is_closed() {
                return;
            }
            if !said {
                tracing::warn!(
                    why,
                    "the store cannot be listened to: it is asked for news instead"
                );
                said = true;
            }
            let again = Instant::now() + AGAIN;
            while Instant::now() < again && !self.is_closed() {
                sleep(POLL).await;
                self.ask(&reader).await;
            }
        }
    }

    /// Until the connection ends. Gives the reason.
    async fn listen_once(&self, connector: &Connector, channel: &str, reader: &Reader) -> String {
        let (client, mut heard) = match connected(connector).await {
            Ok(connected) => connected,
            Err(why) => return why,
        };
        // A telling need not be durable: what it is about is.
        let begin = format!("SET synchronous_commit = off; LISTEN {channel}");
        if let Err(why) = within(client.batch_execute(&begin)).await {
            return why;
        }
        let tell = format!("SELECT pg_notify('{channel}', $1::bigint::text)");
        let mut ours = self.ours.subscribe();
        let mut seen = self.seen.subscribe();
        // what was committed before nobody needs to be told by us
        ours.mark_unchanged();
        self.ask(reader).await;
        loop {
            tokio::select! {
                news = heard.recv() => match news {
                    Some(position) => self.reached(position),
                    None => return "the connection has ended".into(),
                },
                changed = ours.changed() => {
                    if changed.is_err() {
                        return "the store was dropped".into();
                    }
                    let position = *ours.borrow_and_update() as i64;
                    let parameters: &[crate::pool::Parameter<'_>] = &[(&position, tokio_postgres::types::Type::INT8)];
                    if let Err(why) = within(client.query_typed(&tell, parameters)).await {
                        return why;
                    }
                    sleep(TELL_GAP).await;
                }
                () = sleep(POLL_LISTENING) => self.ask(reader).await,
                () = async { drop(seen.wait_for(|seen| seen.closed).await) } => {
                    return "the store was closed".into();
                }
            }
        }
    }
}

async fn within<T>(
    request: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, String> {
    match timeout(REQUEST, request).await {
        Ok(answer) => answer.map_err(|error| crate::failures::told(&error)),
        Err(_) => Err(format!("there was no answer within {} s", REQUEST.as_secs())),
    }
}

/// A connection, and the positions that are told on it.
async fn connected(
    connector: &Connector,
) -> Result<(Client, mpsc::UnboundedReceiver<u64>), String> {
    let (client, mut connection) = connector
        .config()
        .connect(connector.tls())
        .await
        .map_err(|error| connector.not_connected(&error).why)?;
    let (tell, heard) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            let AsyncMessage::Notification(news) = message else { continue };
            let Ok(position) = news.payload().parse() else { continue };
            if tell.send(position).is_err() {
                return;
            }
        }
    });
    Ok((client, heard))
}
