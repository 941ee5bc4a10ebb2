//! What `steadfast dev` says: to a person, or to a script as one object a line.

use std::path::Path;

use design::Compiled;
use gateway::{AdminError, Standing};
use model_checker::render::{self, Paint, Traces};
use model_checker::{Report, Word};
use serde_json::{Value, json};

use super::watcher::Watched;
use crate::client::told;
use crate::commands::replace::in_the_way;
use crate::commands::serve::style;
use crate::commands::tries::{self, Race, Try};
use crate::diagnostics;
use crate::output::{GOOD, HELP, ODD, Output, STRONG};
use crate::problem::Problem;
use crate::progress::Meter;

pub struct Teller<'o> {
    output: &'o mut Output,
    /// where the server is
    address: String,
    json: bool,
    /// of the check that runs
    meter: Option<Meter>,
    /// the first verdict is told in full: it shows what a check looks at
    told_one: bool,
}

impl<'o> Teller<'o> {
    pub fn new(output: &'o mut Output, address: String, json: bool) -> Teller<'o> {
        Teller { output, address, json, meter: None, told_one: false }
    }

    /// Where it is, where truth is kept, what is watched, what is known, and what to try.
    pub fn serving(&mut self, all: &[Watched], kept_in: Option<&Path>, away: &[String]) {
        let race = all.iter().find_map(|one| tries::race_on(&one.name, &one.service.runtime));
        let first = || all.iter().find_map(|one| tries::first(&one.name, one.service.design()));
        let calls: Vec<Try> = match &race {
            Some(race) => race.calls.clone(),
            None => first().into_iter().collect(),
        };
        if self.json {
            let designs = all.iter().map(|one| {
                json!({
                    "name": one.name,
                    "file": one.file.as_ref().map(|file| file.path().to_string_lossy()),
                    "verdict": one.service.standing().to_json(),
                })
            });
            self.event(json!({
                "event": "serving",
                "address": self.address,
                "console": format!("{}/console", self.address),
                "data": kept_in.map(|data| data.to_string_lossy()),
                "away": away,
                "designs": designs.collect::<Vec<_>>(),
                "try": calls.iter().map(Try::to_json).collect::<Vec<_>>(),
            }));
            return;
        }
        let address = self.address.clone();
        let mut text = format!("{STRONG}serving{STRONG:#}  {address}\n");
        text.push_str(&format!("console  {address}/console\n"));
        text.push_str(&match kept_in {
            Some(data) => format!("data     {}\n", data.display()),
            None => "data     in memory, gone at the end\n".to_string(),
        });
        for name in away {
            text.push_str(&format!(
                "away     {name}: calls to it fail and are tried again; `--outside {name}=URL` says where it is\n"
            ));
        }
        for one in all {
            text.push_str(&match &one.file {
                Some(file) => format!("watching {}\n", file.path().display()),
                None => format!(
                    "to change it: steadfast show {word} > {name}.design, then steadfast dev \
                     {name}.design\n",
                    name = one.name,
                    word = one.word
                ),
            });
        }
        for one in all {
            let standing = one.service.standing();
            let good = matches!(standing, Standing::Known(Word::Proved | Word::Holds { .. }));
            let being = match good {
                true if one.known_before() => ", by an earlier check",
                false if one.service.design().world.written => ", and is being checked",
                _ => "",
            };
            text.push_str(&line(&one.name, &standing, being));
        }
        text.push_str(&lines_to_try(&address, race.as_ref(), &calls));
        self.print(&text);
    }

    /// How far the check has come.
    pub fn checking(&mut self, name: &str, arm: &str, states: u64) {
        let meter = self.meter.get_or_insert_with(|| Meter::new(name));
        meter.show_states(arm, states);
    }

    /// The verdict, with the trace of whatever is broken.
    pub fn checked(&mut self, watched: &Watched, report: &Report) {
        let (name, word) = (&watched.name, report.word());
        let at = render::broken_at(report).map_or_else(String::new, |at| format!("#{at}"));
        let page = format!("{}/console/{name}/check{at}", self.address);
        if self.json {
            self.event(json!({
                "event": "checked",
                "design": name,
                "verdict": Standing::Known(word).to_json(),
                "console": page,
                "report": render::json(report),
            }));
            return;
        }
        let good = matches!(word, Word::Proved | Word::Holds { .. });
        let whole = render::text(&watched.word, report, Traces::Broken, Paint::Ansi);
        let mut text = match good && self.told_one {
            true => format!("{}\n", whole.lines().next().unwrap_or_default()),
            false => format!("\n{whole}"),
        };
        self.told_one = true;
        match word {
            Word::Violated => text.push_str(&format!("\nits trace, drawn: {page}\n")),
            Word::NotKnown { .. } => text.push_str(&format!(
                "{HELP}help{HELP:#}: `steadfast check {}` takes a larger budget\n",
                watched.word
            )),
            _ => {}
        }
        self.print(&text);
    }

    /// What is known of a version without a report.
    pub fn standing(&mut self, watched: &Watched, standing: &Standing) {
        if self.json {
            let verdict = standing.to_json();
            let design = &watched.name;
            self.event(json!({ "event": "checked", "design": design, "verdict": verdict }));
        } else {
            let being = match standing {
                Standing::Known(_) => ", by an earlier check",
                _ => "",
            };
            self.print(&line(&watched.word, standing, being));
        }
    }

    /// Everything that the compiler says of a text, as `check` says it.
    pub fn diagnostics(&mut self, watched: &Watched, compiled: &Compiled) {
        self.clear();
        let fails = compiled.design.is_none();
        if !self.json {
            let name = &watched.word;
            diagnostics::tell(self.output, name, &compiled.diagnostics, &compiled.sources);
            if fails {
                self.print(&format!(
                    "{ODD}not replaced{ODD:#}: `{name}` does not compile; the version before it is \
                     served on\n"
                ));
            }
        } else if fails {
            self.event(json!({
                "event": "not_compiled",
                "design": watched.name,
                "diagnostics": diagnostics::to_json(&compiled.diagnostics, &compiled.sources),
            }));
        }
    }

    pub fn replaced(&mut self, watched: &Watched) {
        if self.json {
            self.event(json!({ "event": "replaced", "design": watched.name }));
        } else {
            let Watched { name, word, .. } = watched;
            self.print(&format!("{GOOD}replaced{GOOD:#}: `{name}` is served as `{word}` has it\n"));
        }
    }

    /// Another version is served from now on.
    pub fn version(&mut self, watched: &Watched) {
        self.clear();
        if watched.known_before() {
            self.standing(watched, &watched.service.standing());
        }
    }

    /// Why a text that compiles was not put in place.
    pub fn not_replaced(&mut self, watched: &Watched, error: &AdminError) {
        let Watched { name, word, .. } = watched;
        let obstacles = match error {
            AdminError::Unsafe { obstacles, .. } => obstacles.as_array().cloned(),
            _ => None,
        };
        if self.json {
            let detail = error.to_string();
            self.event(json!({
                "event": "not_replaced",
                "design": name,
                "detail": detail,
                "obstacles": obstacles,
            }));
            return;
        }
        let mut text = format!("{ODD}not replaced{ODD:#}: ");
        match &obstacles {
            Some(obstacles) => {
                text.push_str("stored truth cannot follow; the version before it is served on\n");
                text.push_str(&in_the_way(obstacles));
                let first = obstacles.first().and_then(|one| one["on"].as_str());
                text.push_str(&format!(
                    "{HELP}help{HELP:#}: `steadfast replace {name} {word} --drop {} --server {}` \
                     replaces it and loses what that holds\n",
                    told(first.unwrap_or("NAME")),
                    self.address
                ));
            }
            None => text.push_str(&format!("{error}; the version before it is served on\n")),
        }
        self.print(&text);
    }

    pub fn unreadable(&mut self, watched: &Watched, problem: &Problem) {
        if self.json {
            let (design, why) = (&watched.name, &problem.message);
            self.event(json!({ "event": "unreadable", "design": design, "detail": why }));
            return;
        }
        self.print(&format!(
            "{ODD}warning{ODD:#}: {}; `{}` is served as it was\n",
            problem.message, watched.name
        ));
    }

    /// Leaves the terminal as it was.
    pub fn leave(mut self) {
        self.clear();
    }

    pub fn stopped(output: &mut Output, kept_in: Option<&Path>, json: bool) {
        let text = match kept_in {
            _ if json => format!("{}\n", json!({ "event": "stopped" })),
            Some(data) => format!("stopped; what was stored is in `{}`\n", data.display()),
            None => "stopped\n".to_string(),
        };
        output.print(&text);
    }

    fn clear(&mut self) {
        if let Some(mut meter) = self.meter.take() {
            meter.clear();
        }
    }

    fn print(&mut self, text: &str) {
        self.clear();
        self.output.print(text);
        self.output.flush();
    }

    fn event(&mut self, event: Value) {
        self.print(&format!("{event}\n"));
    }
}

/// `tickets: not checked yet, and is being checked`
fn line(name: &str, standing: &Standing, being: &str) -> String {
    let style = style(standing);
    format!("{name}: {style}{standing}{style:#}{being}\n")
}

fn lines_to_try(address: &str, race: Option<&Race>, calls: &[Try]) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let mut text = match race {
        Some(_) => "\ntry: two callers race, and the second is refused\n".to_string(),
        None => "\ntry\n".to_string(),
    };
    for call in calls {
        text.push_str(&format!("  {}\n", call.curl(address, "")));
        if let Some(refusal) = call.refusal() {
            text.push_str(&format!("    {ODD}{refusal}{ODD:#}\n"));
        }
    }
    if let Some((of, call)) = race.and_then(|race| race.of.as_ref()).zip(calls.last()) {
        text.push_str(&format!("  curl {address}/v1/{}/{}\n", call.design(), of.path()));
    }
    text
}
