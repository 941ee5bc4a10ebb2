//! `steadfast break DESIGN FAILURE`

use clap::Args;
use design::model::Design;
use model_checker::render::{Kept, histories};
use model_checker::sample::{Claim, claims, goal_claim};
use model_checker::{Options, check};
use replay::{End, Line, Shown};
use serde_json::{Value, json};
use steadfast::broken::{Carried, Not, carry_out, ending, is_of, result};

use super::Answer;
use crate::catalog::Embedded;
use crate::diagnostics;
use crate::exit::Exit;
use crate::load::{Loaded, load};
use crate::output::{ERROR, GOOD, Output, STRONG};
use crate::problem::Problem;
use crate::size;

/// Serve a design without one of its guards, and watch the failure happen
///
/// The checker finds how a failure happens once its guard, repair or idempotency key is taken away. This
/// command makes that history happen on a server: it serves the design without the guard on a free port
/// of this machine, makes the calls over HTTP, sets the clock, loses the answers and messages that the
/// history loses, and shows the damage in what is stored. Then it serves the design as it is written, and
/// shows what stands in the way.
///
/// Without a FAILURE it lists them. A goal that breaks as written is shown as it breaks.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast break tickets
  steadfast break tickets 'double booking'
  steadfast break tickets hold.free
  steadfast break shop.design --all")]
pub struct Break {
    /// A path, or the name of a design in the catalog
    #[arg(value_name = "DESIGN")]
    design: String,
    /// The title of a failure, what it takes away (`hold.free`), or the name of a goal that breaks
    #[arg(value_name = "FAILURE")]
    failure: Option<String>,
    /// All of them, one line each
    #[arg(long, conflicts_with = "failure")]
    all: bool,
    /// Threads of the checker
    #[arg(long, value_name = "N", value_parser = size::threads)]
    threads: Option<usize>,
    #[arg(long)]
    json: bool,
}

impl Break {
    pub fn run(self, output: &mut Output) -> Answer {
        let loaded = load(&self.design)?;
        let compiled = design::compile(&loaded.name, &loaded.text, &Embedded);
        diagnostics::tell(output, &loaded.name, &compiled.diagnostics, &compiled.sources);
        let Some(design) = compiled.design else { return Ok(Exit::Wrong) };
        let all = claims(&design);
        if self.failure.is_none() && !self.all {
            output.print(&listed(&self.design, &all));
            return Ok(Exit::Yes);
        }
        let wanted = chosen(&design, &all, self.failure.as_deref())?;
        let kept = self.found(&design, &wanted, output)?;
        let mut exit = Exit::Yes;
        let mut told = Vec::new();
        for claim in &wanted {
            let found = kept.iter().find(|kept| is_of(kept, claim));
            let carried = match found {
                None => Err(Not::Possible("the checker shows no history of it".into())),
                Some(kept) => carry_out(&service_name(&design), &loaded.text, claim, &kept.trace),
            };
            if carried.is_err() {
                exit = exit.max(Exit::No);
            }
            match (self.json, self.all) {
                (true, _) => told.push(as_json(claim, &carried)),
                (false, true) => output.print(&one_line(claim, &carried)),
                (false, false) => output.print(&whole(&loaded, claim, &carried)),
            }
        }
        if self.json {
            output.print(&format!(
                "{:#}\n",
                json!({ "format": "steadfast-break/1", "failures": told })
            ));
        }
        Ok(exit)
    }

    /// The histories of these claims, as the checker finds them.
    fn found(
        &self,
        design: &Design,
        wanted: &[Claim],
        output: &mut Output,
    ) -> Result<Vec<Kept>, Problem> {
        let mut asked = design.clone();
        asked.failures.retain(|failure| wanted.iter().any(|claim| claim.title == failure.title));
        let standard = Options::default();
        let options = Options {
            threads: self.threads.unwrap_or(standard.threads),
            witnesses: false,
            free: false,
            ..standard
        };
        if !self.json {
            output.tell("the checker looks for the history …\n");
        }
        let report = check(&asked, &options, &mut |_| ())
            .map_err(|error| Problem::new(format!("`{}`: {error}", self.design)))?;
        Ok(histories(&report))
    }
}

/// How a server calls a design.
fn service_name(design: &Design) -> String {
    design.name.to_lowercase()
}

/// The claims that a person means.
fn chosen(design: &Design, all: &[Claim], word: Option<&str>) -> Result<Vec<Claim>, Problem> {
    let Some(word) = word else { return Ok(all.to_vec()) };
    let titled = |claim: &&Claim| claim.title.eq_ignore_ascii_case(word);
    let removed = |claim: &&Claim| claim.claim.starts_with(&format!("without {word} breaks "));
    let ends = |claim: &&Claim| claim.title.ends_with(&format!(": {word}"));
    for fits in [&titled as &dyn Fn(&&Claim) -> bool, &removed, &ends] {
        let found: Vec<Claim> = all.iter().filter(|claim| fits(claim)).cloned().collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    match goal_claim(design, word) {
        Some(claim) => Ok(vec![claim]),
        None => {
            let mut titles: Vec<&str> = all.iter().map(|claim| claim.title.as_str()).collect();
            titles.dedup();
            let help = design::instead(word, titles);
            Err(Problem::new(format!("no failure or goal `{word}`")).help(help))
        }
    }
}

fn listed(word: &str, all: &[Claim]) -> String {
    if all.is_empty() {
        return format!("`{word}` names no failure that a protection prevents\n");
    }
    let mut text = String::new();
    for claim in all {
        text.push_str(&format!("{STRONG}{}{STRONG:#}: {}\n", claim.title, claim.claim));
    }
    text.push_str(&format!("\nsteadfast break {word} '{}'\n", all[0].title));
    text
}

fn one_line(claim: &Claim, carried: &Result<Carried, Not>) -> String {
    let mark = match carried {
        Ok(_) => format!("{GOOD}shown{GOOD:#}"),
        Err(Not::Possible(_)) => "not carried out".to_string(),
        Err(Not::TheSame(_)) => format!("{ERROR}differs{ERROR:#}"),
    };
    let said = result(carried);
    let said = said.split_once(": ").map_or(said.as_str(), |(_, said)| said);
    format!("{mark}  {}: {}: {said}\n", claim.title, claim.claim)
}

fn whole(loaded: &Loaded, claim: &Claim, carried: &Result<Carried, Not>) -> String {
    let mut text = format!("\n{STRONG}{}{STRONG:#}: {}\n", claim.title, claim.claim);
    let carried = match carried {
        Ok(carried) => carried,
        Err(Not::Possible(why)) => {
            text.push_str(&format!("  not carried out: {why}\n"));
            return text;
        }
        Err(Not::TheSame(what)) => {
            text.push_str(&format!(
                "  {ERROR}the server did something else than the checker{ERROR:#}: {what}\n  this is a defect of \
                 Steadfast: please report the design\n"
            ));
            return text;
        }
    };
    let (removed, goal) = match claim.claim.split_once(" breaks ") {
        Some((removed, goal)) => (removed, goal),
        None => ("as written", claim.claim.as_str()),
    };
    text.push_str(&format!("\n  {} is served {removed}\n", loaded.name));
    lines(&mut text, &carried.without.lines);
    let damage = match carried.without.end {
        End::Stuck => format!("`{goal}` is never kept again"),
        End::Reached => format!("this is the state in which `{goal}` is broken"),
        _ => format!("`{goal}` is broken, in what is stored"),
    };
    text.push_str(&format!("    {ERROR}{damage}{ERROR:#}\n"));
    if let Some(with) = &carried.with {
        text.push_str(&format!("\n  {} is served as it is written\n", loaded.name));
        lines(&mut text, &with.lines);
        let kept = match &with.end {
            End::Refused(clause) => format!("`{clause}` stands in the way"),
            End::Prevented(why) => why.clone(),
            _ => format!("`{goal}` is kept"),
        };
        text.push_str(&format!("    {GOOD}{kept}{GOOD:#}\n"));
    }
    text
}

fn lines(text: &mut String, lines: &[Line]) {
    let width = lines.iter().map(|line| line.by.chars().count()).max().unwrap_or(0);
    for line in lines {
        let then =
            if line.then.is_empty() { String::new() } else { format!("  → {}", line.then) };
        text.push_str(&format!("    {:width$}  {}{then}\n", line.by, line.what));
    }
}

fn as_json(claim: &Claim, carried: &Result<Carried, Not>) -> Value {
    let shown = |shown: &Shown| {
        let lines: Vec<Value> = shown
            .lines
            .iter()
            .map(|line| json!({ "by": line.by, "what": line.what, "then": line.then }))
            .collect();
        json!({ "end": ending(shown), "lines": lines })
    };
    let mut told = json!({ "title": claim.title, "claim": claim.claim });
    match carried {
        Ok(carried) => {
            told["without"] = shown(&carried.without);
            told["with"] = carried.with.as_ref().map_or(Value::Null, shown);
            told["faults"] = json!(carried.faults);
        }
        Err(Not::Possible(why)) => told["not_carried_out"] = json!(why),
        Err(Not::TheSame(what)) => told["differs"] = json!(what),
    }
    told
}
