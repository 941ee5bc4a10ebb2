//! The HTTP client: blocking, with a time limit, and trusting whom the system trusts.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// How long is waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// from the first byte sent to the last byte of the answer; none: without a limit
    pub whole: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts { connect: Duration::from_secs(5), whole: Some(Duration::from_secs(30)) }
    }
}

/// A client for one address. It follows no redirects and judges no status: both decide what a call
/// came to. It goes through the proxy that the environment names, but never to its own machine.
pub fn agent(url: &str, timeouts: Timeouts) -> Agent {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = TlsConfig::builder()
        .root_certs(if url.starts_with("https:") {
            roots()
        } else {
            RootCerts::new_with_certs(&[])
        })
        .unversioned_rustls_crypto_provider(provider)
        .build();
    let mut config = Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .no_delay(true)
        .user_agent(concat!("steadfast/", env!("CARGO_PKG_VERSION")))
        .timeout_connect(Some(timeouts.connect))
        .timeout_global(timeouts.whole);
    if is_loopback(url) {
        config = config.proxy(None);
    }
    Agent::new_with_config(config.build())
}

fn is_loopback(url: &str) -> bool {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or_default(),
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// The certificates of the system, or those that `SSL_CERT_FILE` names: read once.
fn roots() -> RootCerts {
    static FOUND: OnceLock<Vec<Certificate<'static>>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let loaded = rustls_native_certs::load_native_certs();
        loaded.certs.iter().map(|der| Certificate::from_der(der).to_owned()).collect()
    });
    RootCerts::new_with_certs(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_told_from_the_rest() {
        for url in
            ["http://127.0.0.1:70/x", "http://localhost", "http://[::1]:8/", "http://127.9.9.9"]
        {
            assert!(is_loopback(url), "{url}");
        }
        for url in ["https://localhost.example/", "http://10.0.0.1:80", "http://[::2]/", ""] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
