//! Who acts and how pages look: kept in cookies of this console alone.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{HeaderValue, LOCATION, ORIGIN, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};

use crate::fields::{Sent, sent};
use crate::html::{Html, encoded, html};
use crate::shell;
use crate::trouble;
use crate::visit::{self, AS, THEME, TOKEN, Visit, back};
use gateway::{Gateway, Problem};
use server::kinds;

/// A token is at most this long; browsers keep no more in a cookie.
const TOKEN_BYTES_MAX: usize = 3_900;
const YEAR: &str = "; Max-Age=31536000";

/// To another page of the console.
pub fn go(address: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let address = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/console"));
    response.headers_mut().insert(LOCATION, address);
    shell::guarded(&mut response);
    response
}

fn keep(response: &mut Response<Body>, name: &str, value: &str, more: &str) {
    let line = format!("{name}={}; Path=/console; SameSite=Strict{more}", encoded(value));
    if let Ok(line) = HeaderValue::from_str(&line) {
        response.headers_mut().append(SET_COOKIE, line);
    }
}

/// The other of light and dark.
pub fn theme(request: &Parts, form: &Sent) -> Response<Body> {
    let now = visit::cookie(&request.headers, THEME);
    let next = if now.as_deref() == Some("dark") { "light" } else { "dark" };
    let mut response = go(&back(form));
    keep(&mut response, THEME, next, YEAR);
    response
}

/// Another principal, where everyone is who they say.
pub fn who(form: &Sent) -> Response<Body> {
    let name = sent(form, "as").unwrap_or_default().trim();
    let mut response = go(&back(form));
    if (1..=256).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
    {
        keep(&mut response, AS, name, YEAR);
    } else {
        keep(&mut response, AS, "", "; Max-Age=0");
    }
    response
}

/// Keeps a token that is good, where no script can read it.
pub fn sign_in(
    gateway: &Arc<Gateway>,
    request: &Parts,
    form: &Sent,
) -> Result<Response<Body>, Problem> {
    let token = sent(form, "token").unwrap_or_default().trim();
    if token.is_empty() || token.len() > TOKEN_BYTES_MAX {
        let why = Problem::new(&kinds::NO_TOKEN, "paste the whole token");
        return ask(gateway, request, Some(&why));
    }
    if let Err(why) = visit::caller(gateway, &request.headers, Some(token)) {
        return ask(gateway, request, Some(&why));
    }
    let mut response = go(&back(form));
    // encrypted here, or by whatever stands in front and gives the pages out
    let origin = request.headers.get(ORIGIN).map(HeaderValue::as_bytes).unwrap_or_default();
    let secure = gateway.settings.encrypted || origin.starts_with(b"https://");
    let secure = if secure { "; HttpOnly; Secure" } else { "; HttpOnly" };
    keep(&mut response, TOKEN, token, secure);
    Ok(response)
}

pub fn sign_out() -> Response<Body> {
    let mut response = go("/console");
    keep(&mut response, TOKEN, "", "; HttpOnly; Max-Age=0");
    response
}

/// The page that asks for a token.
pub fn ask(
    gateway: &Arc<Gateway>,
    request: &Parts,
    why: Option<&Problem>,
) -> Result<Response<Body>, Problem> {
    let visit = Visit::stranger(gateway, request)?;
    let mut page = Html::new();
    html!(
        page,
        "<h1>Sign in</h1><p class=\"lead\">This server asks for a token. It is kept in a cookie that \
         no script can read, until you close the browser.</p>"
    );
    if let Some(why) = why {
        page.add(trouble::note(why));
    }
    let address = if visit.address.contains("/_/") { "/console" } else { &visit.address };
    html!(
        page,
        "<form class=\"card\" method=\"post\" action=\"/console/_/sign-in\"><div class=\"field\"><label \
         for=\"token\">token <span class=\"hint\"><code>steadfast token</code> makes one</span></label>\
         <input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"off\" required></div><input \
         type=\"hidden\" name=\"back\" value=\"{}\"><div class=\"actions\"><button class=\"button\">Sign \
         in</button></div></form>",
        address
    );
    Ok(shell::respond(StatusCode::UNAUTHORIZED, shell::alone(&visit, "Sign in", &page)))
}
