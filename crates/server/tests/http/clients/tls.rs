//! TLS with a certificate of our own, met by curl over HTTP/1.1 and HTTP/2.

use std::process::Command;

use super::folder;
use super::program::run;
use crate::support::{TICKETS, config, service};

#[test]
fn a_certificate_and_its_key_are_all_that_tls_takes() {
    let folder = folder("tls");
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    run(Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate));
    let mut config = config();
    config.tls = Some((certificate.clone(), key));
    let server = server::start(config, vec![service("tickets", TICKETS)]).unwrap();
    for (version, spoken) in [("--http1.1", "1.1"), ("--http2", "2")] {
        let said = run(Command::new("curl")
            .args(["-sS", version, "-w", " %{http_version}", "--cacert"])
            .arg(&certificate)
            .arg(format!("{}/healthz", server.url())));
        assert_eq!(said, format!("ok\n {spoken}"));
        // a page from elsewhere is known as one over HTTP/2, too, which has no `Host`
        let asked = |origin: &str| {
            run(Command::new("curl")
                .args(["-sS", version, "-o", "-", "-w", "%{http_code}", "-D", "-", "--cacert"])
                .arg(&certificate)
                .args(["-H", &format!("Origin: {origin}")])
                .arg(format!("{}/v1/tickets", server.url())))
        };
        let own = asked(&server.url());
        assert!(own.ends_with("200"), "{own}");
        let header = "strict-transport-security: max-age=31536000";
        assert!(own.to_ascii_lowercase().contains(header), "{own}");
        assert!(asked("https://evil.example").ends_with("403"));
    }
    let plain = format!("http://{}/healthz", server.address());
    let refused = Command::new("curl").args(["-sS", &plain]).output().unwrap();
    assert!(!refused.status.success(), "nothing is said in the clear");
}

#[test]
fn a_certificate_that_cannot_be_read_is_said_before_anything_is_served() {
    let folder = folder("no-tls");
    let empty = folder.join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    let mut config = config();
    config.tls = Some((empty.clone(), empty));
    let problem = server::start(config, vec![service("tickets", TICKETS)]).err().unwrap();
    assert!(problem.to_string().contains("empty.pem"), "{problem}");
}
