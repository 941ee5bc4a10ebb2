//! Who calls, by the headers of a request.

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HeaderName};
use gateway::{Caller, Gateway, PRINCIPAL_BYTES_MAX, Problem};
use identity::Denied;

use crate::app::App;
use crate::cors::Origins;
use crate::origin;

/// The header by which a caller names itself where no token is asked for.
pub const AS: HeaderName = HeaderName::from_static("steadfast-as");

/// Makes out who calls from a page of this server, or from no page at all.
pub fn caller(gateway: &Gateway, headers: &HeaderMap) -> Result<Caller, Problem> {
    origin::own_page(headers, &Origins::default())?;
    known(gateway, headers)
}

/// The same, where pages of origins that were named may call, too. A page from elsewhere calls for nobody.
pub(crate) fn calling(app: &App, headers: &HeaderMap) -> Result<Caller, Problem> {
    origin::own_page(headers, &app.origins)?;
    known(&app.gateway, headers)
}

/// By a token, or, on loopback where none is asked for, by what they say.
fn known(gateway: &Gateway, headers: &HeaderMap) -> Result<Caller, Problem> {
    if let Some(token) = credential(headers) {
        return gateway.by_token(token);
    }
    gateway.without_token()?;
    origin::local_name(headers)?;
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
