//! The verdict on each goal and each failure, beside it.

use gen_lsp_types::{CodeLens, Command, Uri};
use serde_json::{Value, json};
use syntax::Span;
use syntax::tree::{Item, ItemKind, UseItem};

use crate::checks::Standing;
use crate::server::{Refusal, Server, unknown};
use crate::snapshot::Snapshot;
use crate::verdicts::{Judged, Judgement};

/// `steadfast.check` checks a file, `steadfast.history` tells how a goal is broken or a failure happens.
pub const COMMANDS: [&str; 2] = [CHECK, HISTORY];

const CHECK: &str = "steadfast.check";
const HISTORY: &str = "steadfast.history";

pub fn lenses(server: &mut Server<'_>, uri: &Uri, snapshot: &Snapshot) -> Vec<CodeLens> {
    // a text that does not compile has no goals yet
    let Some(design) = &snapshot.compiled.design else { return Vec::new() };
    let standing = server.checks.standing(uri, &snapshot.text, Some(design));
    let said = Said { uri, snapshot, standing };
    snapshot.items().iter().filter_map(|item| said.item(item)).collect()
}

struct Said<'s> {
    uri: &'s Uri,
    snapshot: &'s Snapshot,
    standing: Option<Standing>,
}

impl Said<'_> {
    fn item(&self, item: &Item) -> Option<CodeLens> {
        match &item.kind {
            ItemKind::Design { name, .. } | ItemKind::Archetype { name, .. } => {
                Some(self.lens(name.span, self.whole(), CHECK, None))
            }
            ItemKind::Invariant { name, .. }
            | ItemKind::Recovers { name, .. }
            | ItemKind::LeadsTo { name, .. } => {
                self.judged(name.span, self.found()?.goal(&name.text)?)
            }
            ItemKind::Failure(failure) => {
                self.judged(failure.title.span, self.found()?.failure(&failure.title.value)?)
            }
            ItemKind::Use(used) => self.used(used),
            _ => None,
        }
    }

    fn found(&self) -> Option<&Judgement> {
        match &self.standing {
            Some(Standing::Known(found)) => Some(found),
            _ => None,
        }
    }

    fn whole(&self) -> String {
        match &self.standing {
            None if self.snapshot.compiled.design.as_ref().is_some_and(|it| !it.world.written) => {
                "not checked: there is no `check`".into()
            }
            None => "not checked: save, or click, to check it".into(),
            Some(Standing::Checking(how_far)) => how_far.clone(),
            Some(Standing::Known(found)) => found.whole.clone(),
            Some(Standing::Failed(why)) => format!("not checked: {why}"),
        }
    }

    fn judged(&self, at: Span, judged: &Judged) -> Option<CodeLens> {
        let command = if judged.history.is_some() { HISTORY } else { CHECK };
        Some(self.lens(at, judged.said.clone(), command, Some(&judged.name)))
    }

    /// The goals that an archetype brings are called `seat.one_winner`.
    fn used(&self, used: &UseItem) -> Option<CodeLens> {
        let design = self.snapshot.compiled.design.as_ref()?;
        let scope = &design.uses.iter().find(|held| held.noun == used.noun.text)?.scope;
        let brought =
            |judged: &&Judged| judged.name.split_once('.').is_some_and(|(its, _)| its == scope);
        let goals: Vec<&Judged> = self.found()?.goals.iter().filter(brought).collect();
        let bad = goals.iter().find(|judged| !judged.good);
        let (said, command, name) = match bad {
            Some(bad) => (format!("{}: {}", bad.name, bad.said), HISTORY, Some(bad.name.as_str())),
            None => (format!("its {} goals: {}", goals.len(), words_of(&goals)?), CHECK, None),
        };
        Some(self.lens(used.archetype.span, said, command, name))
    }

    fn lens(&self, at: Span, title: String, command: &str, name: Option<&str>) -> CodeLens {
        let mut arguments = vec![json!(self.uri.0)];
        arguments.extend(name.map(|name| json!(name)));
        let command =
            Command { title, tooltip: None, command: command.into(), arguments: Some(arguments) };
        CodeLens { range: self.snapshot.range(at), command: Some(command), data: None }
    }
}

/// `3 proved, 1 holds within log: 3 entries`; each word once.
fn words_of(goals: &[&Judged]) -> Option<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for judged in goals {
        match counts.iter_mut().find(|(said, _)| *said == judged.said) {
            Some((_, count)) => *count += 1,
            None => counts.push((&judged.said, 1)),
        }
    }
    let parts: Vec<String> = match counts.as_slice() {
        [] => return None,
        [(said, _)] => vec![(*said).to_string()],
        several => several.iter().map(|(said, count)| format!("{count} {said}")).collect(),
    };
    Some(parts.join(", "))
}

/// What a click on a lens does.
pub fn execute(
    server: &mut Server<'_>,
    command: &str,
    arguments: &[Value],
) -> Result<Value, Refusal> {
    let text = |at: usize| arguments.get(at).and_then(Value::as_str);
    let uri = text(0).map(Uri::from);
    match (command, uri) {
        (CHECK, Some(uri)) => server.check(&uri).map(|()| Value::Null),
        (HISTORY, Some(uri)) => {
            let name = text(1).unwrap_or_default();
            let snapshot = server.snapshot(&uri)?;
            let design = snapshot.compiled.design.as_ref();
            let standing = server.checks.standing(&uri, &snapshot.text, design);
            let Some(Standing::Known(found)) = standing else {
                return Err(Refusal::because("this text was not checked yet; save it first"));
            };
            let judged = found.goal(name).or_else(|| found.failure(name));
            let Some(history) = judged.and_then(|judged| judged.history.as_ref()) else {
                return Err(Refusal::because(format!("no history is known of `{name}`")));
            };
            server.show(history);
            Ok(json!(history))
        }
        (CHECK | HISTORY, None) => {
            Err(Refusal::because(format!("`{command}` takes the address of a file")))
        }
        _ => Err(unknown(command)),
    }
}
