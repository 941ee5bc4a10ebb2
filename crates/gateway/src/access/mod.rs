//! Who calls, and what they may do.

pub(crate) mod audit;
pub(crate) mod known;
mod memory;

pub use audit::Auditor;
pub use known::Access;
pub use memory::Memory;
pub(crate) use memory::unseal;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use identity::{Act, Denied, Foreign, Signed, now_s};
use runtime::Viewer;
use serde_json::json;

use crate::gateway::Gateway;
use crate::kinds;
use crate::problem::{Hint, Problem};
use crate::service::Service;

/// A caller, as it was made out once for a request or a socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    pub principal: String,
    pub roles: Roles,
    /// none: it was taken at its word
    token: Option<Presented>,
}

/// A token that a caller presented.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Presented {
    /// made here
    Own(Arc<Signed>),
    /// made by the issuer whose tokens are taken
    Foreign(Arc<Foreign>),
}

/// The actors as which a caller may act.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Roles {
    /// whoever operates the service
    All,
    /// `buyer` in every design, `tickets/buyer` in one
    Some(Vec<String>),
}

impl Roles {
    fn of(roles: &identity::Roles) -> Roles {
        match roles {
            identity::Roles::All(_) => Roles::All,
            identity::Roles::Some(roles) => Roles::Some(roles.clone()),
        }
    }
}

/// The role of whoever gathers metrics and may do nothing else. No actor can be called that.
pub const METRICS: &str = "steadfast:metrics";
pub const PRINCIPAL_BYTES_MAX: usize = 256;
/// An open connection on which nothing happens is closed so long after its token was revoked.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// May this address be listened on? Beyond this machine only callers with tokens are let in.
pub fn may_listen(address: SocketAddr, access: &Access) -> bool {
    address.ip().is_loopback() || (access.tokens && access.identity.is_some())
}

impl Gateway {
    /// Who presents this token; or what is presented is no token at all.
    pub fn by_token(&self, token: Result<&str, Denied>) -> Result<Caller, Problem> {
        let of_issuer = |token: &str| {
            let issuer = self.settings.access.issuer.as_ref()?;
            issuer.is_named_by(token).then(|| issuer.verify(token, now_s()))
        };
        let known = token.and_then(|token| match of_issuer(token) {
            Some(foreign) => foreign.map(Presented::Foreign),
            None => self.identity.verify(token, now_s()).map(Presented::Own),
        });
        match known {
            Ok(token) => {
                let (principal, roles) = match &token {
                    Presented::Own(signed) => (&signed.claims.sub, &signed.claims.roles),
                    Presented::Foreign(foreign) => (&foreign.principal, &foreign.roles),
                };
                let (principal, roles) = (principal.clone(), Roles::of(roles));
                Ok(Caller { principal, roles, token: Some(token) })
            }
            Err(denied) => Err(refused(self, denied)),
        }
    }

    /// Refuses whoever presents nothing, where a token is asked for.
    pub fn without_token(&self) -> Result<(), Problem> {
        if !self.settings.access.tokens {
            return Ok(());
        }
        self.auditor.refused(Act::Unauthenticated, "nobody", json!({ "why": "no token" }));
        Err(unauthenticated("a call presents a token").hint(Hint::Token { refused: false }))
    }

    /// Whoever is taken at its word, where no token is asked for. None: its name is no name.
    pub fn by_name(&self, name: &str) -> Option<Caller> {
        assert!(!self.settings.access.tokens, "callers are known by their tokens");
        let fits = (1..=PRINCIPAL_BYTES_MAX).contains(&name.len());
        fits.then(|| Caller { principal: name.to_string(), roles: Roles::All, token: None })
    }
}

fn unauthenticated(detail: &'static str) -> Problem {
    Problem::new(&kinds::UNAUTHENTICATED, detail)
}

/// Says why, as far as that is the caller's business; the rest is in the audit log.
fn refused(gateway: &Gateway, denied: Denied) -> Problem {
    gateway.auditor.refused(Act::Unauthenticated, "nobody", json!({ "why": denied.name() }));
    if denied == Denied::Unavailable {
        return Problem::new(&kinds::UNAVAILABLE, denied.told()).hint(Hint::AgainAfter(1));
    }
    unauthenticated(denied.told()).hint(Hint::Token { refused: true })
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

    /// May it read what is counted of all callers?
    pub fn may_read_metrics(&self) -> bool {
        match &self.roles {
            Roles::All => true,
            Roles::Some(roles) => roles.iter().any(|role| role == METRICS),
        }
    }

    /// May what was begun with its token go on? Asked before everything that is told on a
    /// connection that stays open.
    pub fn still_good(&self, gateway: &Gateway) -> bool {
        match &self.token {
            None => true,
            Some(Presented::Own(token)) => gateway.identity.still_good(token, now_s()).is_ok(),
            Some(Presented::Foreign(token)) => {
                let issuer = gateway.settings.access.issuer.as_ref();
                issuer.is_some_and(|issuer| issuer.still_good(token, now_s()).is_ok())
            }
        }
    }

    /// Ends when its token is no longer good; who has none is not turned away.
    pub async fn turned_away(&self, gateway: &Gateway) {
        if self.token.is_none() {
            return std::future::pending().await;
        }
        while self.still_good(gateway) {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

/// Refuses a caller that may not act as this actor.
pub fn may_act(
    gateway: &Gateway,
    service: &Service,
    caller: &Caller,
    actor: &str,
) -> Result<(), Problem> {
    if caller.may_act_as(service, actor) {
        return Ok(());
    }
    let of = json!({ "design": service.name, "actor": actor });
    gateway.auditor.refused(Act::Forbidden, &caller.principal, of);
    Err(Problem::new(
        &kinds::WRONG_ROLE,
        format!("steps of `{actor}` are for callers with that role"),
    ))
}

/// Refuses a caller that does not operate the service.
pub fn operator(gateway: &Gateway, caller: &Caller, what: &str) -> Result<(), Problem> {
    if caller.is_operator() {
        return Ok(());
    }
    gateway.auditor.refused(Act::Forbidden, &caller.principal, json!({ "what": what }));
    Err(Problem::new(&kinds::OPERATORS_ONLY, format!("{what} takes a token with all roles")))
}
