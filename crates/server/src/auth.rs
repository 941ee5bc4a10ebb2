//! Who calls, by the headers of a request.

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HOST, HeaderName};
use gateway::{Caller, Gateway, PRINCIPAL_BYTES_MAX, Problem};
use identity::Denied;

use crate::kinds;

/// The header by which a caller names itself where no token is asked for.
pub const AS: HeaderName = HeaderName::from_static("steadfast-as");

/// Makes out who calls: by a token, or, on loopback where none is asked for, by what they say.
pub fn caller(gateway: &Gateway, headers: &HeaderMap) -> Result<Caller, Problem> {
    if let Some(token) = credential(headers) {
        return gateway.by_token(token);
    }
    gateway.without_token()?;
    local_host(headers)?;
    let name = headers.get(&AS).map_or(Some("local"), |value| value.to_str().ok());
    name.and_then(|name| gateway.by_name(name)).ok_or_else(|| {
        Problem::malformed(format!(
            "`{AS}` is a name of 1 to {PRINCIPAL_BYTES_MAX} visible ASCII characters"
        ))
    })
}

/// The token that is presented. Two of them are none: who calls is not a choice.
fn credential(headers: &HeaderMap) -> Option<Result<&str, Denied>> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?;
    let alone = values.next().is_none();
    let token = value.to_str().ok().filter(|_| alone).and_then(|text| {
        let (scheme, token) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    Some(token.ok_or(Denied::Malformed))
}

/// A page of somebody else's may have its name lead to this machine: whoever is let in without a
/// token has asked for it by a name of its own.
fn local_host(headers: &HeaderMap) -> Result<(), Problem> {
    let Some(host) = headers.get(HOST) else { return Ok(()) };
    let host = host.to_str().unwrap_or_default();
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    // a name without a dot is of this machine or its neighbours: nobody else can make it lead here
    let local = match name.parse::<std::net::IpAddr>() {
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
