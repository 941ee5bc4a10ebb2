//! One request, as the pages see it: who comes, from where, and how it wants to be shown things.

use std::sync::Arc;

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use axum::http::request::Parts;

use crate::fields::Sent;
use crate::html::{Html, html};
use crate::seen::Seen;
use crate::shell::Tab;
use gateway::{Caller, Gateway, Problem, Roles, Service};
use server::auth;
use server::kinds;
use server::origin;
use server::path;

/// The cookies of the console. The token's cannot be read by any script.
pub const TOKEN: &str = "steadfast_token";
pub const AS: &str = "steadfast_as";
pub const THEME: &str = "steadfast_theme";

pub struct Visit {
    pub gateway: Arc<Gateway>,
    pub caller: Caller,
    /// signed in with a token, rather than named by itself
    pub signed_in: bool,
    pub theme: Option<&'static str>,
    /// a script asks for the part of the page that changes
    pub part: bool,
    /// to come back to
    pub address: String,
    pub query: Sent,
}

impl Visit {
    /// Who comes, by its cookies. A problem with the status 401 asks for a token.
    pub fn of(gateway: &Arc<Gateway>, request: &Parts) -> Result<Visit, Problem> {
        let headers = &request.headers;
        let token = cookie(headers, TOKEN).filter(|token| !token.is_empty());
        let caller = caller(gateway, headers, token.as_deref())?;
        Ok(Visit { signed_in: token.is_some(), ..Visit::as_caller(gateway, request, caller)? })
    }

    /// For a page that anyone may see.
    pub fn stranger(gateway: &Arc<Gateway>, request: &Parts) -> Result<Visit, Problem> {
        Visit::as_caller(gateway, request, Caller::nobody())
    }

    fn as_caller(
        gateway: &Arc<Gateway>,
        request: &Parts,
        caller: Caller,
    ) -> Result<Visit, Problem> {
        let headers = &request.headers;
        let uri = &request.uri;
        Ok(Visit {
            gateway: Arc::clone(gateway),
            caller,
            signed_in: false,
            theme: match cookie(headers, THEME).as_deref() {
                Some("dark") => Some("dark"),
                Some("light") => Some("light"),
                _ => None,
            },
            part: headers.contains_key("steadfast-part"),
            address: uri.path_and_query().map_or("/console", |given| given.as_str()).to_string(),
            query: path::query(uri.query().unwrap_or_default())?,
        })
    }

    /// Who acts, at the top of the page.
    pub fn who(&self, page: &mut Html) {
        if self.caller.principal.is_empty() {
            return;
        }
        if !self.signed_in {
            html!(
                page,
                "<form class=\"who\" method=\"post\" action=\"/console/_/who\">\
                 <label class=\"hint\" for=\"who\">Acting as</label><input id=\"who\" name=\"as\" \
                 value=\"{}\" maxlength=\"256\" autocomplete=\"off\" spellcheck=\"false\">\
                 <input type=\"hidden\" name=\"back\" value=\"{}\">\
                 <button class=\"quiet\">Change</button></form>",
                self.caller.principal,
                self.address
            );
            return;
        }
        html!(page, "<span class=\"who\"><strong>{}</strong> ", self.caller.principal);
        match &self.caller.roles {
            Roles::All => html!(page, "all roles"),
            Roles::Some(roles) => page.add(roles.join(", ")),
        }
        html!(
            page,
            "</span><form method=\"post\" action=\"/console/_/sign-out\"><button \
             class=\"quiet\">Sign out</button></form>"
        );
    }

    /// How many things on this page wait for a person.
    pub fn badge(&self, service: &Service, tab: Tab) -> u64 {
        match tab {
            Tab::Outbox if self.caller.roles == Roles::All => service.kept::<Seen>().dead_letters(),
            Tab::Aside if self.caller.roles == Roles::All => service.kept::<Seen>().set_aside(),
            _ => 0,
        }
    }
}

/// The caller that these cookies stand for.
pub fn caller(
    gateway: &Gateway,
    headers: &HeaderMap,
    token: Option<&str>,
) -> Result<Caller, Problem> {
    let mut asked = HeaderMap::new();
    let mut set = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            asked.insert(name, value);
        }
    };
    match token {
        Some(token) => set(AUTHORIZATION, &format!("Bearer {token}")),
        None => {
            if let Some(name) = cookie(headers, AS).filter(|name| !name.is_empty()) {
                set(auth::AS, &name);
            }
        }
    }
    let caller = auth::caller(gateway, &asked)?;
    if token.is_none() {
        origin::local_name(headers)?;
    }
    Ok(caller)
}

/// A form of this console, not of a page elsewhere: browsers say so themselves.
pub fn same_origin(headers: &HeaderMap) -> Result<(), Problem> {
    if let Some(site) = headers.get(origin::SEC_FETCH_SITE) {
        return match site.as_bytes() {
            b"same-origin" => Ok(()),
            _ => Err(foreign("the form was not sent by a page of this console")),
        };
    }
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    match (text(ORIGIN), text(HOST)) {
        (Some(origin), Some(host)) if origin::is_of(origin, host) => Ok(()),
        _ => Err(foreign("the form does not say which page sent it")),
    }
}

fn foreign(detail: &str) -> Problem {
    Problem::new(&kinds::OTHER_ORIGIN, detail)
}

/// A cookie, decoded.
pub fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(given, _)| *given == name)
        .and_then(|(_, value)| path::decoded(value).ok())
}

/// An address of the console to go back to, whatever a form says.
pub fn back(form: &Sent) -> String {
    let asked = crate::fields::sent(form, "back").unwrap_or_default();
    let safe = asked.starts_with("/console")
        && !asked.contains("//")
        && !asked.contains('\\')
        && asked.bytes().all(|byte| byte.is_ascii_graphic());
    if safe { asked.to_string() } else { "/console".to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = list
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        pairs.collect()
    }

    #[test]
    fn a_form_from_elsewhere_is_refused() {
        let check = |list: &[(&'static str, &'static str)], fine: bool| {
            assert_eq!(same_origin(&headers(list)).is_ok(), fine, "{list:?}");
        };
        check(&[("sec-fetch-site", "same-origin")], true);
        check(
            &[("sec-fetch-site", "cross-site"), ("origin", "http://a:1"), ("host", "a:1")],
            false,
        );
        check(&[("sec-fetch-site", "same-site")], false);
        check(&[("sec-fetch-site", "none")], false);
        check(&[("origin", "http://127.0.0.1:7878"), ("host", "127.0.0.1:7878")], true);
        check(&[("origin", "http://evil.example"), ("host", "127.0.0.1:7878")], false);
        check(&[("origin", "null"), ("host", "127.0.0.1:7878")], false);
        check(&[], false);
    }

    #[test]
    fn going_back_stays_here() {
        let form = |back: &str| vec![("back".to_string(), back.to_string())];
        assert_eq!(
            back(&form("/console/tickets/record/Seat?key=a%20b")),
            "/console/tickets/record/Seat?key=a%20b"
        );
        for evil in [
            "//evil.example",
            "https://evil.example",
            "/console//evil",
            "/console\\x",
            "/console\r\nx: y",
        ] {
            assert_eq!(back(&form(evil)), "/console", "{evil}");
        }
    }

    #[test]
    fn cookies_are_found_among_others() {
        let headers = headers(&[("cookie", "a=1; steadfast_as=an%20n; b=2")]);
        assert_eq!(cookie(&headers, AS).as_deref(), Some("an n"));
        assert_eq!(cookie(&headers, TOKEN), None);
    }
}
