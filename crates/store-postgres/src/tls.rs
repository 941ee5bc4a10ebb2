//! Encrypted connections, by rustls. The server is always verified: whoever is in between would read the truth.

use std::fs;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use crate::address::Verify;

/// Makes connections encrypted, where they are.
#[derive(Clone)]
pub struct Tls(Option<TlsConnector>);

impl Tls {
    /// Reads the certificates that are trusted.
    pub fn new(verify: &Verify) -> Result<Tls, String> {
        let roots = match verify {
            Verify::Off => return Ok(Tls(None)),
            Verify::System => system(),
            Verify::File(path) => file(path)?,
        };
        if roots.is_empty() {
            return Err("no certificates are trusted: the system has none".into());
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("no TLS: {error}"))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Tls(Some(TlsConnector::from(Arc::new(config)))))
    }
}

fn system() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let loaded = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(loaded.certs);
    roots
}

fn file(path: &Path) -> Result<RootCertStore, String> {
    let name = path.display();
    let pem = fs::read(path).map_err(|error| format!("`sslrootcert`: `{name}`: {error}"))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| format!("`{name}` is no PEM: {error}"))?;
        roots.add(certificate).map_err(|error| format!("`{name}`: {error}"))?;
    }
    match roots.is_empty() {
        true => Err(format!("`{name}` holds no certificate")),
        false => Ok(roots),
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type TlsConnect = TlsFor;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<TlsFor> {
        let connector = self.0.clone();
        Ok(TlsFor { connector, domain: domain.to_owned() })
    }
}

/// Encrypts one connection to one host.
pub struct TlsFor {
    connector: Option<TlsConnector>,
    domain: String,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for TlsFor {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let connector = self.connector.ok_or_else(|| io::Error::other("TLS is off"))?;
            let name = ServerName::try_from(self.domain).map_err(io::Error::other)?;
            Ok(Encrypted(connector.connect(name, stream).await?))
        })
    }
}

/// An encrypted stream.
pub struct Encrypted<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    /// None: the certificate is verified, so nobody is in between.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
