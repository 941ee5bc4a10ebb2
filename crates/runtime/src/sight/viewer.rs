//! Who looks.

/// A principal and the actors it may act as. Whoever asks as nobody in particular sees everything:
/// a program that embeds the runtime decides for itself what to show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Viewer {
    pub principal: String,
    pub roles: Roles,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Roles {
    /// the operator: every actor, and everything is seen
    All,
    /// actors of the design by name; other names mean nothing
    Some(Vec<String>),
}

impl Viewer {
    pub fn operator(principal: &str) -> Viewer {
        Viewer { principal: principal.into(), roles: Roles::All }
    }

    pub fn with_roles<S: Into<String>>(
        principal: &str,
        roles: impl IntoIterator<Item = S>,
    ) -> Viewer {
        let roles = Roles::Some(roles.into_iter().map(Into::into).collect());
        Viewer { principal: principal.into(), roles }
    }
}
