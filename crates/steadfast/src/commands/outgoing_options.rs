//! Where effects and events of a server go.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::Args;
use design::model::Design;
use outgoing::{Secret, Subscription, Targets, Timeouts, subscription};

use crate::problem::{Problem, reason};

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Calls that leave")]
pub struct OutgoingOptions {
    /// What `{NAME.url}` in the address of an effect stands for
    #[arg(long, value_name = "NAME=URL")]
    outside: Vec<String>,
    /// Sign the calls to NAME; give it twice while the secret is rotated; `@FILE` reads one from each line
    #[arg(long, value_name = "NAME=whsec_…")]
    outside_secret: Vec<String>,
    /// How long to wait for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    outside_timeout: u64,
    /// How often a call is tried before it counts as unknown for good
    #[arg(long, value_name = "TIMES", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1000))]
    outside_attempts: u32,
    /// Send events to this address: all of them, or those that are named
    #[arg(long, value_name = "URL[=EVENT,…]")]
    webhook: Vec<String>,
    /// Sign webhooks to URL; give it twice while the secret is rotated; `@FILE` reads one from each line
    #[arg(long, value_name = "URL=whsec_…")]
    webhook_secret: Vec<String>,
    /// Whoever is not named is away: calls to it wait, and are tried again
    #[arg(skip)]
    others_are_away: bool,
}

/// Nobody listens at the port that discards.
const AWAY: &str = "http://127.0.0.1:9";

/// The same, understood.
#[derive(Clone, Debug)]
pub struct Leaving {
    pub targets: Targets,
    pub timeouts: Timeouts,
    /// how often one call is tried
    pub attempts_max: u32,
    told: Vec<Subscription>,
}

impl OutgoingOptions {
    /// Whoever has no address is away for now, so that a design can be tried without it.
    pub fn with_others_away(self) -> OutgoingOptions {
        OutgoingOptions { others_are_away: true, ..self }
    }

    /// Whom these designs call and nobody has named, each once.
    pub fn not_named<'d>(&self, designs: impl Iterator<Item = &'d Design>) -> Vec<String> {
        let named = |name: &String| {
            let is = |(held, _): (&str, &str)| held == name;
            self.outside.iter().any(|setting| setting.split_once('=').is_some_and(is))
        };
        let all = designs.flat_map(|design| Targets::default().unset(design));
        let names: BTreeSet<String> = all.filter_map(|unset| unset.name).collect();
        names.into_iter().filter(|name| !named(name)).collect()
    }

    pub fn read(&self, designs: &[&Design]) -> Result<Leaving, Problem> {
        let mut targets = Targets::default();
        if self.others_are_away {
            targets.set_others(AWAY);
        }
        for setting in &self.outside {
            let Some((name, url)) = setting.split_once('=').filter(|(name, _)| !name.is_empty())
            else {
                return Err(Problem::new(format!("`{setting}` names no address"))
                    .help("write `--outside NAME=URL`"));
            };
            subscription(url, &[]).map_err(Problem::new)?;
            targets.set(name, url);
        }
        for setting in &self.outside_secret {
            let (name, secrets) = secrets(setting, "--outside-secret")?;
            secrets.into_iter().for_each(|secret| targets.add_secret(&name, secret));
        }
        for design in designs {
            if let Some(unset) = targets.unset(design).first() {
                let name = unset.name.as_deref().unwrap_or("NAME");
                return Err(Problem::new(format!("`{}`: {unset}", design.name))
                    .help(format!("say where it is: `--outside {name}=https://…`")));
            }
        }
        let told = self.subscriptions(designs)?;
        let whole = Some(Duration::from_secs(self.outside_timeout));
        let timeouts = Timeouts { whole, ..Timeouts::default() };
        Ok(Leaving { targets, timeouts, attempts_max: self.outside_attempts, told })
    }

    fn subscriptions(&self, designs: &[&Design]) -> Result<Vec<Subscription>, Problem> {
        let known: Vec<&str> = designs
            .iter()
            .flat_map(|design| design.events.iter().map(|event| event.name.as_str()))
            .collect();
        let mut told: Vec<Subscription> = Vec::new();
        for setting in &self.webhook {
            let (url, events) = subscription(setting, &known).map_err(Problem::new)?;
            if told.iter().any(|earlier| earlier.url == url) {
                return Err(Problem::new(format!("`{url}` is told twice"))
                    .help("name all its events at once: `URL=EVENT,EVENT`"));
            }
            told.push(Subscription { url, events, secrets: Vec::new() });
        }
        for setting in &self.webhook_secret {
            let (url, secrets) = secrets(setting, "--webhook-secret")?;
            let Some(subscription) = told.iter_mut().find(|told| told.url == url) else {
                return Err(Problem::new(format!("nothing is told to `{url}`"))
                    .help(format!("tell it of events with `--webhook {url}`")));
            };
            subscription.secrets.extend(secrets);
        }
        if let Some(unsigned) = told.iter().find(|told| told.secrets.is_empty()) {
            let url = &unsigned.url;
            return Err(Problem::new(format!(
                "what is told to `{url}` has no secret to be signed with"
            ))
            .help(format!(
                "here is a new one: --webhook-secret {url}={}",
                Secret::fresh().reveal()
            )));
        }
        Ok(told)
    }
}

impl Leaving {
    /// Those who may be told something by this design.
    pub fn subscriptions(&self, design: &Design) -> Vec<Subscription> {
        let emits = |name: &String| design.events.iter().any(|event| event.name == *name);
        let each = self.told.iter().filter(|told| {
            told.events.as_ref().map_or(!design.events.is_empty(), |names| names.iter().any(emits))
        });
        each.cloned().collect()
    }
}

/// `NAME=whsec_…` or `NAME=@FILE`. A name may hold `=`, and so may a secret.
fn secrets(setting: &str, flag: &str) -> Result<(String, Vec<Secret>), Problem> {
    let at = ["=whsec_", "=@"].iter().filter_map(|mark| setting.rfind(mark)).max();
    let Some((name, given)) = at.map(|at| (&setting[..at], &setting[at + 1..])) else {
        // what was given may be a secret all the same: it is not shown
        return Err(Problem::new(format!("`{flag}` takes a name and a secret"))
            .help(format!("write `{flag} NAME=whsec_…`, or `{flag} NAME=@FILE`")));
    };
    let texts: Vec<String> = match given.strip_prefix('@') {
        None => vec![given.to_string()],
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                Problem::new(format!("cannot read `{file}`: {}", reason(&error)))
            })?;
            text.lines().map(str::trim).filter(|line| !line.is_empty()).map(String::from).collect()
        }
    };
    let secrets = texts.iter().map(|text| Secret::parse(text));
    let secrets: Result<Vec<Secret>, _> = secrets.collect();
    let secrets =
        secrets.map_err(|error| Problem::new(format!("the secret of `{name}`: {error}")))?;
    Ok((name.to_string(), secrets))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn design(name: &str) -> Design {
        steadfast::load(name, catalog::find(name).unwrap().text).unwrap()
    }

    #[test]
    fn what_is_missing_is_named_with_the_flag_to_give() {
        let payments = design("payments");
        let unset = OutgoingOptions::default().read(&[&payments]).unwrap_err();
        assert!(unset.message.contains("`{network.url}`"), "{}", unset.message);
        assert_eq!(unset.help, ["say where it is: `--outside network=https://…`"]);
        let outside = vec!["network=http://127.0.0.1:1/x".to_string()];
        let set = OutgoingOptions { outside: outside.clone(), ..OutgoingOptions::default() };
        assert!(set.read(&[&payments]).is_ok());
        let webhook = vec!["http://127.0.0.1:1/=PaymentSucceeded".to_string()];
        let told = OutgoingOptions { outside, webhook, ..OutgoingOptions::default() };
        let unsigned = told.read(&[&payments]).unwrap_err();
        let help = unsigned.help[0].split(": ").nth(1).unwrap();
        let secret = help.strip_prefix("--webhook-secret ").unwrap().to_string();
        let signed = OutgoingOptions { webhook_secret: vec![secret.clone(), secret], ..told };
        let leaving = signed.read(&[&payments]).ok().unwrap();
        let subscriptions = leaving.subscriptions(&payments);
        assert_eq!((subscriptions.len(), subscriptions[0].secrets.len()), (1, 2));
        assert!(leaving.subscriptions(&design("tickets")).is_empty());
    }

    #[test]
    fn while_one_develops_nobody_has_to_be_named() {
        let (payments, clinic) = (design("payments"), design("clinic"));
        let all = || [&payments, &clinic].into_iter();
        let options = OutgoingOptions::default();
        let away = options.not_named(all());
        assert!(away.contains(&"network".to_string()), "{away:?}");
        let outside = away.iter().map(|name| format!("{name}=http://127.0.0.1:1")).collect();
        let named = OutgoingOptions { outside, ..OutgoingOptions::default() };
        assert_eq!(named.not_named(all()), Vec::<String>::new());
        let leaving = options.with_others_away().read(&[&payments, &clinic]).ok().unwrap();
        assert!(leaving.targets.unset(&payments).is_empty());
    }

    #[test]
    fn a_secret_is_never_shown() {
        for setting in ["whsec_SECRET", "x=SECRET", "x=whsec_SECRET"] {
            let problem = secrets(setting, "--webhook-secret").unwrap_err();
            let told = format!("{} {:?}", problem.message, problem.help);
            assert!(!told.contains("SECRET"), "{told}");
        }
    }
}
