//! Who calls.

use axum::http::{HeaderMap, StatusCode};

use crate::app::App;
use crate::problem::Problem;

/// A caller, as it was made out once for a request or a socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    pub principal: String,
    pub roles: Roles,
}

/// The actors whose steps a caller may call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Roles {
    All,
    Some(Vec<String>),
}

impl Caller {
    /// May it act as this actor?
    pub fn may_act_as(&self, actor: &str) -> bool {
        match &self.roles {
            Roles::All => true,
            Roles::Some(roles) => roles.iter().any(|role| role == actor),
        }
    }
}

/// The header by which a caller names itself where no token is asked for.
pub const AS: &str = "steadfast-as";
const PRINCIPAL_BYTES_MAX: usize = 256;

/// Makes out who calls. On loopback without tokens everyone is who they say.
pub fn caller(_: &App, headers: &HeaderMap) -> Result<Caller, Problem> {
    let principal = match headers.get(AS) {
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
    Ok(Caller { principal: principal.to_string(), roles: Roles::All })
}

/// The caller may not act as this actor.
pub fn wrong_role(actor: &str) -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "wrong-role",
        "the caller has another role",
        format!("steps of `{actor}` are for callers with that role"),
    )
}
