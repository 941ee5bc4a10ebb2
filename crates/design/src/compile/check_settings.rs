//! What `check` says beyond sizes: faults, the horizon, limits.

use super::Compiler;
use super::check::Entries;
use super::check::SETTINGS;
use crate::model::*;
use crate::suggest;
use syntax::Diagnostic;
use syntax::tree::CheckValue;

impl Compiler {
    pub(super) fn settings(&mut self, world: &mut World, entries: &mut Entries) {
        for entry in &mut entries.list {
            let [word] = entry.words.as_slice() else {
                continue;
            };
            match (word.as_str(), &entry.value) {
                ("faults", CheckValue::Words(words)) => {
                    entry.used = true;
                    for (name, budget) in words {
                        let budget = budget.as_ref().and_then(|budget| self.count(budget));
                        let known = Fault::ALL.iter().find(|(_, word)| *word == name.text);
                        match known {
                            Some((fault, _)) => {
                                world.faults.push(FaultSetting { fault: *fault, budget })
                            }
                            None => {
                                let words: Vec<&str> =
                                    Fault::ALL.iter().map(|(_, word)| *word).collect();
                                let mut problem = Diagnostic::error(
                                    "E0704",
                                    name.span,
                                    format!("no fault `{}`", name.text),
                                );
                                problem = match suggest::did_you_mean(
                                    &name.text,
                                    words.iter().copied(),
                                ) {
                                    Some(hint) => problem.help(hint),
                                    None => {
                                        problem.help(format!("the faults are {}", words.join(", ")))
                                    }
                                };
                                self.report(problem);
                            }
                        }
                    }
                    world.faults.sort_by_key(|setting| setting.fault);
                    world.faults.dedup_by_key(|setting| setting.fault);
                }
                ("symmetry", CheckValue::Words(words))
                    if words.len() == 1 && matches!(words[0].0.text.as_str(), "off" | "on") =>
                {
                    entry.used = true;
                    world.symmetry_off = words[0].0.text == "off";
                }
                ("faults" | "symmetry", _) => {
                    entry.used = true;
                    let wanted = if word == "faults" {
                        "faults by name, as in `crash, lost_reply 2`"
                    } else {
                        "`off` or `on`"
                    };
                    let span = entry.span;
                    self.wrong_value(span, wanted);
                }
                (setting, CheckValue::Number(number))
                    if SETTINGS.contains(&setting) && !self.is_named(setting) =>
                {
                    entry.used = true;
                    let value = match setting {
                        "depth" => self.depth(number),
                        "list" | "time" | "schedules" => Some(self.at_least_one(number)),
                        _ => self.count(number),
                    };
                    match value {
                        Some(n) if setting == "horizon" => world.horizon = Some(n),
                        Some(n) if setting == "unknowns" && n > 0 => {
                            let span = number.span;
                            self.report(Diagnostic::error("E0703", span, "expected 0").help(
                                "an answer is `unknown` any number of times; `unknowns: 0` \
                                     says that it never is",
                            ));
                        }
                        Some(n) => world.settings.push((setting.to_string(), i64::from(n))),
                        None => {}
                    }
                }
                _ => {}
            }
        }
    }

    /// Is there a key part, an actor or a parameter of this name?
    pub(super) fn is_named(&self, word: &str) -> bool {
        self.names.actors.contains_key(word)
            || self
                .design
                .subjects
                .iter()
                .any(|subject| subject.keys.iter().any(|key| key.name == word))
            || self
                .design
                .operations
                .iter()
                .any(|operation| operation.params.iter().any(|param| param.name == word))
    }
}
