//! What a principal may act as.

use serde::{Deserialize, Serialize};

/// Actors by name: `buyer` in every design that is served, `tickets/buyer` in one of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Roles {
    /// every actor, and what only an operator may do
    All(All),
    Some(Vec<String>),
}

/// The word for every role.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum All {
    #[serde(rename = "all")]
    All,
}

/// A token names at most so many roles.
pub(crate) const ROLES_MAX: usize = 64;
/// The longest name of a principal, a role or a service, in bytes.
pub(crate) const NAME_MAX: usize = 256;

impl Roles {
    pub const ALL: Roles = Roles::All(All::All);

    pub fn some<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Roles {
        Roles::Some(names.into_iter().map(Into::into).collect())
    }

    pub fn is_all(&self) -> bool {
        matches!(self, Roles::All(_))
    }

    /// The roles in one design; none: all of them.
    pub fn within<'a>(&'a self, design: &'a str) -> Option<impl Iterator<Item = &'a str>> {
        let Roles::Some(names) = self else { return None };
        Some(names.iter().filter_map(move |name| match name.split_once('/') {
            None => Some(name.as_str()),
            Some((of, role)) => (of == design).then_some(role),
        }))
    }

    pub fn allows(&self, design: &str, actor: &str) -> bool {
        self.within(design).is_none_or(|mut roles| roles.any(|role| role == actor))
    }
}

/// A name that can be shown on a line and be told from others.
pub(crate) fn good_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_MAX && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_counts_everywhere_or_in_its_design() {
        let roles = Roles::some(["buyer", "shop/clerk"]);
        for (design, actor, allowed) in [
            ("tickets", "buyer", true),
            ("shop", "buyer", true),
            ("shop", "clerk", true),
            ("tickets", "clerk", false),
            ("tickets", "shop/clerk", false),
            ("tickets", "buy", false),
        ] {
            assert_eq!(roles.allows(design, actor), allowed, "{design}/{actor}");
        }
        assert!(Roles::ALL.allows("any", "thing"));
        assert!(!Roles::some([""; 0]).allows("any", "thing"));
        // a role that is called `all` is not all of them
        let text = serde_json::to_string(&Roles::ALL).unwrap();
        assert_eq!(text, "\"all\"");
        assert_eq!(serde_json::from_str::<Roles>("[\"all\"]").unwrap(), Roles::some(["all"]));
        assert!(serde_json::from_str::<Roles>("\"buyer\"").is_err());
    }
}
