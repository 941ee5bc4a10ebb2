//! Who is called: the names in braces of a design's addresses, and the secret of each.

use std::collections::BTreeMap;
use std::fmt;

use design::model::{Design, OperationKind};

use crate::secret::Secret;

/// One other side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    pub url: String,
    /// newest first; empty: calls to it are not signed
    pub secrets: Vec<Secret>,
}

/// All of them, by the name that designs use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    named: BTreeMap<String, Target>,
    /// where all others are
    others: Option<String>,
}

/// An effect whose address names something that has no address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unset {
    /// `network.authorize`
    pub effect: String,
    /// what stands in braces
    pub placeholder: String,
    /// the name to be given, if the braces hold one
    pub name: Option<String>,
}

impl fmt::Display for Unset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unset { effect, placeholder, .. } = self;
        match &self.name {
            Some(_) => {
                write!(f, "the effect `{effect}` calls `{{{placeholder}}}`, which is not set")
            }
            None => write!(
                f,
                "the effect `{effect}` calls `{{{placeholder}}}`, and only `{{NAME.url}}` is filled in"
            ),
        }
    }
}

impl std::error::Error for Unset {}

impl Targets {
    pub fn set(&mut self, name: &str, url: &str) {
        let url = url.trim_end_matches('/').to_string();
        self.named.entry(name.into()).or_default().url = url;
    }

    /// Whoever has no address is here.
    pub fn set_others(&mut self, url: &str) {
        self.others = Some(url.trim_end_matches('/').to_string());
    }

    pub fn add_secret(&mut self, name: &str, secret: Secret) {
        self.named.entry(name.into()).or_default().secrets.push(secret);
    }

    pub fn get(&self, name: &str) -> Option<&Target> {
        self.named.get(name)
    }

    /// What a design calls and nobody has set.
    pub fn unset(&self, design: &Design) -> Vec<Unset> {
        let mut list = Vec::new();
        for operation in &design.operations {
            let OperationKind::Effect(effect) = &operation.kind else { continue };
            let actor = &design.actors[operation.actor.index()].name;
            if let Err(placeholder) = self.fill(&effect.url, actor) {
                list.push(Unset {
                    effect: format!("{actor}.{}", operation.name),
                    name: placeholder.strip_suffix(".url").map(String::from),
                    placeholder,
                });
            }
        }
        list
    }

    /// The address, and whom it belongs to: the name in its braces, or the effect's actor. If it
    /// cannot be filled in, the placeholder that stands in the way.
    pub fn fill(&self, template: &str, actor: &str) -> Result<(String, Target), String> {
        let mut url = String::new();
        let mut owner: Option<&str> = None;
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((placeholder, after)) = after.split_once('}') else { break };
            let name = placeholder.strip_suffix(".url");
            match name.and_then(|name| self.address(name)) {
                Some(address) => {
                    url.push_str(before);
                    url.push_str(address);
                }
                None => return Err(placeholder.into()),
            }
            owner = owner.or(name);
            rest = after;
        }
        url.push_str(rest);
        let target = self.named.get(owner.unwrap_or(actor)).cloned().unwrap_or_default();
        Ok((url, target))
    }

    fn address(&self, name: &str) -> Option<&str> {
        let named = self.named.get(name).map(|target| target.url.as_str());
        named.filter(|url| !url.is_empty()).or(self.others.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_are_filled_in() {
        let mut targets = Targets::default();
        targets.set("bank", "https://bank.example/api/");
        targets.add_secret("bank", Secret::fresh());
        let (url, target) = targets.fill("{bank.url}/charges", "x").unwrap();
        assert_eq!(url, "https://bank.example/api/charges");
        assert_eq!(target.secrets.len(), 1);
        let fixed = targets.fill("https://fixed.example/x", "bank").unwrap();
        assert_eq!((fixed.0.as_str(), fixed.1.secrets.len()), ("https://fixed.example/x", 1));
        assert_eq!(targets.fill("{till.url}/x", "bank").unwrap_err(), "till.url");
        assert_eq!(targets.fill("{bank.uri}/x", "bank").unwrap_err(), "bank.uri");
        targets.add_secret("till", Secret::fresh());
        assert_eq!(targets.fill("{till.url}/x", "bank").unwrap_err(), "till.url", "no address yet");
        targets.set_others("http://127.0.0.1:9/");
        let (url, target) = targets.fill("{till.url}/x", "bank").unwrap();
        assert_eq!((url.as_str(), target.secrets.len()), ("http://127.0.0.1:9/x", 1));
        assert_eq!(targets.fill("{bank.url}/x", "x").unwrap().0, "https://bank.example/api/x");
        assert_eq!(targets.fill("{bank.uri}/x", "bank").unwrap_err(), "bank.uri");
    }
}
