//! A connection whose other side must go on reading. What is written to somebody who does not read
//! stays here; after a while the connection is given up, and with it whatever waits behind it.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

pub struct Patient<S> {
    stream: S,
    most: Duration,
    /// runs while something is to be written and nothing is taken
    stalled: Option<Pin<Box<Sleep>>>,
    /// is it running?
    waits: bool,
}

impl<S> Patient<S> {
    pub fn new(stream: S, most: Duration) -> Patient<S> {
        Patient { stream, most, stalled: None, waits: false }
    }

    /// What a write came to, unless it has come to nothing for too long.
    fn within<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waits = false;
            return written;
        }
        let most = self.most;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(most)));
        if !self.waits {
            stalled.as_mut().reset(Instant::now() + most);
            self.waits = true;
        }
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.within(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.within(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.within(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.stream).poll_shutdown(context);
        self.within(context, ended)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Writes twice as much as there is room for while somebody reads, and then once more.
    async fn written(most: Duration, reads_on: bool) -> io::Result<()> {
        let (mut reader, writer) = tokio::io::duplex(16);
        let mut writer = Patient::new(writer, most);
        let reading = tokio::spawn(async move {
            let mut room = [0; 32];
            reader.read_exact(&mut room).await.unwrap();
            if reads_on {
                reader.read_exact(&mut room).await.unwrap();
            }
            reader
        });
        writer.write_all(&[7; 32]).await?;
        assert!(!writer.waits, "whoever reads is not counted against");
        writer.write_all(&[7; 32]).await?;
        drop(reading.await);
        Ok(())
    }

    #[tokio::test]
    async fn who_does_not_read_is_given_up_and_who_reads_is_not() {
        assert!(written(Duration::from_secs(3_600), true).await.is_ok());
        let failed = written(Duration::from_millis(200), false).await.unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::TimedOut);
    }
}
