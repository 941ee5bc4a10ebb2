//! TLS, by a certificate and its key in PEM files.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// What a client and this server may agree to speak.
pub const HTTP_2: &[u8] = b"h2";
const HTTP_1: &[u8] = b"http/1.1";

pub fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, String> {
    let unreadable = |path: &Path, why: String| format!("`{}`: {why}", path.display());
    let chain: Result<Vec<CertificateDer<'static>>, _> =
        CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
    let chain = chain.map_err(|error| unreadable(certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(unreadable(certificate, "there is no certificate in it".into()));
    }
    let secret = PrivateKeyDer::from_pem_file(key);
    let secret = secret.map_err(|error| unreadable(key, error.to_string()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| unreadable(key, error.to_string()))?;
    config.alpn_protocols = vec![HTTP_2.to_vec(), HTTP_1.to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
