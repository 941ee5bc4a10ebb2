//! Who calls, and what they may do.

mod audit;
mod memory;

pub use audit::Auditor;
pub use memory::{Memory, unseal};

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HOST, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use identity::{Act, Denied, Identity, Signed, now_s};
use runtime::Viewer;
use serde_json::json;

use crate::app::App;
use crate::kinds;
use crate::problem::Problem;
use crate::service::Service;

/// How callers are known.
#[derive(Clone, Default)]
pub struct Access {
    /// none: keys that are forgotten when the server stops
    pub identity: Option<Arc<Identity>>,
    /// nobody is let in without a token
    pub tokens: bool,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept = self.identity.is_some();
        f.debug_struct("Access").field("kept", &kept).field("tokens", &self.tokens).finish()
    }
}

/// A caller, as it was made out once for a request or a socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    pub principal: String,
    pub roles: Roles,
    /// none: it was taken at its word
    token: Option<Arc<Signed>>,
}

/// The actors as which a caller may act.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Roles {
    /// whoever operates the service
    All,
    /// `buyer` in every design, `tickets/buyer` in one
    Some(Vec<String>),
}

/// The header by which a caller names itself where no token is asked for.
pub const AS: HeaderName = HeaderName::from_static("steadfast-as");
const PRINCIPAL_BYTES_MAX: usize = 256;
/// An open connection on which nothing happens is closed so long after its token was revoked.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// May this address be listened on? Beyond this machine only callers with tokens are let in.
pub fn may_listen(address: SocketAddr, access: &Access) -> bool {
    address.ip().is_loopback() || (access.tokens && access.identity.is_some())
}

/// Makes out who calls: by a token, or, on loopback where none is asked for, by what they say.
pub fn caller(app: &App, headers: &HeaderMap) -> Result<Caller, Problem> {
    if let Some(token) = credential(headers) {
        let verified = token.and_then(|token| app.identity.verify(token, now_s()));
        return match verified {
            Ok(signed) => Ok(Caller {
                principal: signed.claims.sub.clone(),
                roles: match &signed.claims.roles {
                    identity::Roles::All(_) => Roles::All,
                    identity::Roles::Some(roles) => Roles::Some(roles.clone()),
                },
                token: Some(signed),
            }),
            Err(denied) => Err(refused(app, denied)),
        };
    }
    if app.config.access.tokens {
        app.auditor.refused(Act::Unauthenticated, "nobody", json!({ "why": "no token" }));
        let challenge = HeaderValue::from_static("Bearer realm=\"steadfast\"");
        return Err(unauthenticated("a call presents a token").header(WWW_AUTHENTICATE, challenge));
    }
    local_host(headers)?;
    let principal = match headers.get(&AS) {
        None => "local",
        Some(value) => match value.to_str() {
            Ok(text) if (1..=PRINCIPAL_BYTES_MAX).contains(&text.len()) => text,
            _ => {
                let detail = format!(
                    "`{AS}` is a name of 1 to {PRINCIPAL_BYTES_MAX} visible ASCII characters"
                );
                return Err(Problem::malformed(detail));
            }
        },
    };
    Ok(Caller { principal: principal.to_string(), roles: Roles::All, token: None })
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

fn unauthenticated(detail: &'static str) -> Problem {
    Problem::new(&kinds::UNAUTHENTICATED, detail)
}

/// Says why, as far as that is the caller's business; the rest is in the audit log.
fn refused(app: &App, denied: Denied) -> Problem {
    app.auditor.refused(Act::Unauthenticated, "nobody", json!({ "why": denied.name() }));
    if denied == Denied::Unavailable {
        return Problem::new(&kinds::UNAVAILABLE, denied.told());
    }
    let challenge = HeaderValue::from_static("Bearer realm=\"steadfast\", error=\"invalid_token\"");
    unauthenticated(denied.told()).header(WWW_AUTHENTICATE, challenge)
}

impl Caller {
    /// Whose eyes answers of this design are for; none: nothing is hidden.
    pub fn viewer(&self, service: &Service) -> Option<Viewer> {
        let Roles::Some(roles) = &self.roles else { return None };
        let here = roles.iter().filter_map(|name| match name.split_once('/') {
            None => Some(name.as_str()),
            Some((design, role)) => (design == service.name).then_some(role),
        });
        Some(Viewer::with_roles(&self.principal, here))
    }

    /// May it act as this actor of this design?
    pub fn may_act_as(&self, service: &Service, actor: &str) -> bool {
        let viewer = self.viewer(service);
        viewer.is_none_or(|viewer| service.runtime.allows(&viewer, actor) == Some(true))
    }

    /// Somebody who may do nothing.
    pub fn nobody() -> Caller {
        Caller { principal: String::new(), roles: Roles::Some(Vec::new()), token: None }
    }

    /// May it do what only whoever operates the service does?
    pub fn is_operator(&self) -> bool {
        self.roles == Roles::All
    }

    /// May what was begun with its token go on? Asked before everything that is told on a
    /// connection that stays open.
    pub fn still_good(&self, app: &App) -> bool {
        let Some(token) = &self.token else { return true };
        app.identity.still_good(token, now_s()).is_ok()
    }

    /// Ends when its token is no longer good; who has none is not turned away.
    pub async fn turned_away(&self, app: &App) {
        if self.token.is_none() {
            return std::future::pending().await;
        }
        while self.still_good(app) {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

/// Refuses a caller that may not act as this actor.
pub fn may_act(app: &App, service: &Service, caller: &Caller, actor: &str) -> Result<(), Problem> {
    if caller.may_act_as(service, actor) {
        return Ok(());
    }
    let of = json!({ "design": service.name, "actor": actor });
    app.auditor.refused(Act::Forbidden, &caller.principal, of);
    Err(Problem::new(
        &kinds::WRONG_ROLE,
        format!("steps of `{actor}` are for callers with that role"),
    ))
}

/// Refuses a caller that does not operate the service.
pub fn operator(app: &App, caller: &Caller, what: &str) -> Result<(), Problem> {
    if caller.is_operator() {
        return Ok(());
    }
    app.auditor.refused(Act::Forbidden, &caller.principal, json!({ "what": what }));
    Err(Problem::new(&kinds::OPERATORS_ONLY, format!("{what} takes a token with all roles")))
}
