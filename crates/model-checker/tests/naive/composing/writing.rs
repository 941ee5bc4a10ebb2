//! What was made, written down: the design that uses, its archetypes, and the flat design in its names.

use std::collections::BTreeMap;

use super::{Maker, NOUNS};
use crate::naive::ast::*;
use crate::naive::composed::Composed;
use crate::naive::text;

impl Maker<'_> {
    /// A text in the names of the composed design. `part`: it stands in an operation of this part.
    pub(super) fn scoped(&self, text: &str, part: Option<usize>) -> String {
        let mut words: BTreeMap<String, String> = BTreeMap::new();
        for (at, subject) in self.flat.subjects.iter().enumerate() {
            let of = self.part_of_subject(at);
            let noun = NOUNS[of].0;
            let alone = &self.alone[of].subjects[at - if of == 1 { self.from[0] } else { 0 }];
            let new = self.bound.get(&at).cloned();
            let new = new.unwrap_or_else(|| format!("{noun}{}", alone.name));
            words.insert(format!("@{at}"), format!("{noun}{}", alone.name));
            words.insert(subject.name.into(), new);
            for state in ["State", "Soft", "Log"] {
                words.insert(
                    format!("{}{state}", subject.name),
                    format!("{noun}{}{state}", alone.name),
                );
            }
            if of == 1 {
                words.insert(format!("{}k", subject.low), format!("{}k", alone.low));
                let attrs = subject.attrs.iter().zip(&alone.attrs);
                attrs.for_each(|(new, old)| drop(words.insert(new.name.clone(), old.name.clone())));
                if part == Some(1) {
                    words.insert(subject.low.into(), alone.low.into());
                }
            }
        }
        for (at, op) in self.flat.ops.iter().enumerate() {
            if let Some(part) = self.op_parts[at] {
                words.insert(op.name.clone(), in_part(&op.name, part));
            }
        }
        for op in &self.before.ops {
            // hidden ones
            let at = self.before.ops.iter().position(|held| held.name == op.name);
            let part = usize::from(at.is_some_and(|at| at >= self.from[1]));
            words.entry(op.name.clone()).or_insert_with(|| in_part(&op.name, part));
        }
        for (at, effect) in self.flat.effects.iter().enumerate() {
            let part = usize::from(at >= self.from[2]);
            words.insert(effect.name.clone(), in_part(&effect.name, part));
        }
        replaced(text, &words)
    }

    pub(super) fn written(self) -> Composed {
        let mut text = String::from("design Whole\n\n");
        for item in self.items.iter().filter(|item| item.starts_with("subject")) {
            text.push_str(item);
            text.push('\n');
        }
        let mut names = BTreeMap::new();
        let mut archetypes = Vec::new();
        for (part, alone) in self.alone.iter().enumerate() {
            let (noun, scope) = NOUNS[part];
            let id = format!("R0{part}");
            text.push_str(&format!("use {id} as {noun} {{\n"));
            for (at, held) in self.actors_of(part).into_iter().enumerate() {
                let name = alone.actors[at].name;
                if name != held {
                    text.push_str(&format!("    actor {name} is {held}\n"));
                }
            }
            for line in &self.blocks[part] {
                text.push_str(&format!("    {}\n", self.scoped(line, Some(part))));
            }
            text.push_str("}\n\n");
            let whole = text::text(alone);
            let rest = whole.split_once('\n').map_or("", |(_, rest)| rest);
            archetypes.push((id.clone(), format!("archetype {id} Random \"A part\"\n{rest}")));
            for (at, goal) in self.flat.goals.iter().enumerate() {
                if self.goal_parts[at] == Some(part) {
                    names.insert(format!("{scope}.{}", self.plain_goal(at)), goal.name.clone());
                }
            }
            for (at, op) in self.flat.ops.iter().enumerate() {
                if self.op_parts[at] == Some(part) {
                    names.insert(in_part(&op.name, part), op.name.clone());
                }
            }
            for (at, effect) in self.flat.effects.iter().enumerate() {
                if usize::from(at >= self.from[2]) == part {
                    names.insert(in_part(&effect.name, part), effect.name.clone());
                }
            }
        }
        for (at, title) in self.titles.iter().enumerate() {
            names.insert(title.clone(), format!("f{at}"));
        }
        for item in self.items.iter().filter(|item| !item.starts_with("subject")) {
            text.push_str(item);
            text.push('\n');
        }
        let mut flat = self.flat.clone();
        if self.alone.len() == 2 {
            // One world for the goals of both, and one of the same size for the design's own.
            let entries = self.entries();
            text.push_str(&format!("check {entries}\n"));
            let goals: Vec<usize> =
                (0..flat.goals.len()).filter(|at| self.goal_parts[*at].is_some()).collect();
            if !goals.is_empty() {
                let called: Vec<String> = goals
                    .iter()
                    .map(|at| {
                        let part = self.goal_parts[*at].unwrap_or(0);
                        format!("{}.{}", NOUNS[part].1, self.plain_goal(*at))
                    })
                    .collect();
                text.push_str(&format!("\ncheck other for {} {entries}\n", called.join(", ")));
                let subjects = flat.subjects.iter().map(|held| held.count).collect();
                let actors = flat.actors.iter().map(|held| held.count).collect();
                let check = flat.check.clone();
                let goals = goals.into_iter().collect();
                flat.other = Some(Box::new(Other { goals, check, subjects, actors }));
            }
        }
        let Maker { before, changes, .. } = self;
        Composed { flat, before, text, archetypes, names, changes }
    }

    /// What the actors of a part are called in the whole.
    fn actors_of(&self, part: usize) -> Vec<&'static str> {
        let own = &self.alone[part].actors;
        if part == 0 {
            return own.iter().map(|held| held.name).collect();
        }
        let shared = self.flat.actors.len() < self.alone[0].actors.len() + own.len() - 1;
        let other = |name: &'static str| match name {
            "user" if !shared => "guest",
            "boss" => "chief",
            "bank" => "mint",
            other => other,
        };
        own.iter().map(|held| other(held.name)).collect()
    }

    /// The entries of `check`, each key and attribute with its owner.
    fn entries(&self) -> String {
        let mut lines = Vec::new();
        for line in text::check(&self.flat).lines() {
            let key = |at: &usize| {
                let subject = &self.flat.subjects[*at];
                line.trim_start().starts_with(&format!("{}k: ", subject.low))
            };
            match (0..self.flat.subjects.len()).find(key) {
                Some(at) => {
                    let name = self.flat.subjects[at].name;
                    lines.push(format!("    {name}.{}", line.trim_start()));
                }
                None => lines.push(line.to_string()),
            }
        }
        self.scoped(&lines.join("\n"), None)
    }
}

/// What an operation of a part is called: `go_2` of the second part is `go_yak`.
fn in_part(name: &str, part: usize) -> String {
    let plain = if part == 1 { name.strip_suffix("_2").unwrap_or(name) } else { name };
    format!("{plain}_{}", NOUNS[part].1)
}

/// The text with other words for these.
fn replaced(text: &str, words: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for letter in text.chars().chain(['\n']) {
        if letter.is_ascii_alphanumeric() || letter == '_' || letter == '@' && word.is_empty() {
            word.push(letter);
            continue;
        }
        out.push_str(words.get(&word).unwrap_or(&word));
        word.clear();
        out.push(letter);
    }
    out.pop();
    out
}
