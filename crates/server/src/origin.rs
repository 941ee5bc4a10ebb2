//! From where a request was sent: the name that it was asked under, and the page that asked.

use axum::http::HeaderMap;
use axum::http::header::{HOST, HeaderName, ORIGIN};
use gateway::Problem;

use crate::cors::Origins;
use crate::kinds;

pub const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// A page of somebody else's may have its name lead to this machine: whoever is let in without a
/// token has asked for it by a name of its own.
pub fn local_name(headers: &HeaderMap) -> Result<(), Problem> {
    let Some(host) = headers.get(HOST) else { return Ok(()) };
    let name = without_port(host.to_str().unwrap_or("."));
    // a name without a dot is of this machine or its neighbours: nobody else can make it lead here
    let local = match name.trim_matches(['[', ']']).parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => !name.contains('.'),
    };
    if local {
        return Ok(());
    }
    Err(Problem::new(
        &kinds::WRONG_HOST,
        "without tokens it answers to `localhost` and to loopback addresses",
    ))
}

/// A browser says which page sends a request. Pages of this server may, and those of origins that its operator named,
/// and so may whoever is no browser; a page from elsewhere may only lead a person here.
pub fn own_page(headers: &HeaderMap, others: &Origins) -> Result<(), Problem> {
    if others.of(headers).is_some() {
        return Ok(());
    }
    let own = match headers.get(ORIGIN) {
        Some(origin) => {
            let (origin, host) = (origin.to_str(), headers.get(HOST).map(|host| host.to_str()));
            matches!((origin, host), (Ok(origin), Some(Ok(host))) if is_of(origin, host))
        }
        None => match headers.get(SEC_FETCH_SITE).map(|site| site.as_bytes()) {
            None | Some(b"same-origin" | b"none") => true,
            Some(_) => headers.get(SEC_FETCH_MODE).is_some_and(|mode| mode == "navigate"),
        },
    };
    if own {
        return Ok(());
    }
    Err(Problem::new(
        &kinds::OTHER_ORIGIN,
        "it was sent by a page that this server did not give out",
    ))
}

/// Is this the origin of the pages of `host`? Whether they are encrypted is not asked: something in
/// front of the server may do that.
pub fn is_of(origin: &str, host: &str) -> bool {
    let Some((scheme, at)) = origin.split_once("://") else { return false };
    let usual = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return false,
    };
    let bare = |name: &str| name.strip_suffix(usual).unwrap_or(name).to_ascii_lowercase();
    !at.is_empty() && bare(at) == bare(host)
}

fn without_port(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = list
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        pairs.collect()
    }

    #[test]
    fn a_name_that_was_made_to_lead_here_is_refused() {
        for (host, fine) in [
            ("127.0.0.1:7878", true),
            ("localhost", true),
            ("[::1]:7878", true),
            ("server:80", true),
            ("127.0.0.1.evil.example:7878", false),
            ("evil.example", false),
            ("192.0.2.1", false),
            ("[2001:db8::1]:80", false),
        ] {
            assert_eq!(local_name(&headers(&[("host", host)])).is_ok(), fine, "{host}");
        }
    }

    #[test]
    fn a_page_from_elsewhere_is_refused() {
        const HERE: (&str, &str) = ("host", "127.0.0.1:7070");
        for (list, fine) in [
            (&[HERE][..], true),
            (&[HERE, ("origin", "http://127.0.0.1:7070")], true),
            (&[HERE, ("origin", "https://127.0.0.1:7070")], true),
            (&[HERE, ("origin", "http://127.0.0.1:7071")], false),
            (&[HERE, ("origin", "http://127.0.0.1")], false),
            (&[HERE, ("origin", "http://evil.example")], false),
            (&[HERE, ("origin", "null")], false),
            (&[HERE, ("origin", "")], false),
            (&[HERE, ("origin", "file://127.0.0.1:7070")], false),
            (&[("origin", "http://127.0.0.1:7070")], false),
            (&[("host", "a.example"), ("origin", "https://a.example:443")], true),
            (&[("host", "A.example:443"), ("origin", "https://a.example")], true),
            (&[("host", "a.example:80"), ("origin", "https://a.example")], false),
            (&[HERE, ("sec-fetch-site", "same-origin")], true),
            (&[HERE, ("sec-fetch-site", "none")], true),
            (&[HERE, ("sec-fetch-site", "same-site")], false),
            (&[HERE, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")], false),
            (&[HERE, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")], true),
            (&[HERE, ("origin", "http://x"), ("sec-fetch-site", "same-origin")], false),
        ] {
            assert_eq!(own_page(&headers(list), &Origins::default()).is_ok(), fine, "{list:?}");
        }
    }
}
