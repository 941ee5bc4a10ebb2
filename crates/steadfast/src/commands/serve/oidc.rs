//! Tokens of somebody else's issuer.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use identity::{Issuer, IssuerTerms, RoleRule};
use outgoing::{Timeouts, agent};

use crate::problem::Problem;

/// Larger documents than any issuer has.
const DOCUMENT_BYTES_MAX: u64 = 1 << 20;

#[derive(Args, Default)]
pub struct OidcOptions {
    /// Take tokens of this issuer of OpenID Connect, besides those that `steadfast token` makes; asks for tokens
    #[arg(long, value_name = "URL", requires = "oidc_audience", value_parser = IssuerTerms::checked_url)]
    oidc_issuer: Option<String>,
    /// What the issuer's tokens for this service have under `aud`
    #[arg(long, value_name = "AUD", requires = "oidc_issuer")]
    oidc_audience: Option<String>,
    /// A role that its callers have: `buyer` for all of them, `groups=staff:organizer` for those whose claim has this
    /// value, `roles=*` where the values of the claim are the roles. May be given several times
    #[arg(long, value_name = "RULE", requires = "oidc_issuer", value_parser = RoleRule::read)]
    oidc_role: Vec<RoleRule>,
}

impl OidcOptions {
    pub fn is_given(&self) -> bool {
        self.oidc_issuer.is_some()
    }

    /// Fetches the issuer's keys once, and from then on beside the server. None: no issuer is named.
    pub fn start(&self) -> Result<Option<Arc<Issuer>>, Problem> {
        let (Some(url), Some(audience)) = (&self.oidc_issuer, &self.oidc_audience) else {
            return Ok(None);
        };
        let terms = IssuerTerms {
            url: url.clone(),
            audience: audience.clone(),
            roles: self.oidc_role.clone(),
            between: IssuerTerms::BETWEEN,
        };
        let named = url.clone();
        let told = move |trouble: Option<&str>| match trouble {
            Some(reason) => {
                tracing::warn!(issuer = %named, reason, "the issuer's keys cannot be had now");
            }
            None => tracing::info!(issuer = %named, "the issuer's keys can be had again"),
        };
        let issuer = Issuer::start(terms, Box::new(fetched), Box::new(told))
            .map_err(|error| Problem::new(format!("cannot start threads: {error}")))?;
        Ok(Some(Arc::new(issuer)))
    }
}

fn fetched(url: &str) -> Result<Vec<u8>, String> {
    let short = Duration::from_secs(5);
    let timeouts = Timeouts { connect: short, whole: Some(short) };
    let answer = agent(url, timeouts).get(url).call();
    let mut answer = answer.map_err(|error| format!("`{url}`: {error}"))?;
    if answer.status() != 200 {
        return Err(format!("`{url}` answers {}", answer.status()));
    }
    let body = answer.body_mut().with_config().limit(DOCUMENT_BYTES_MAX).read_to_vec();
    body.map_err(|error| format!("`{url}`: {error}"))
}
