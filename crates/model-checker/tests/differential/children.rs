//! Steps of random designs that make children by a statement, and that delete parents.

use std::fmt::Write;

use super::Generator;
use super::Kind;

impl Generator {
    /// The child is made under a parent that the call names, or that some record refers to: there it
    /// may be gone by now. Some of these steps make the parent as well.
    pub(super) fn child_steps(&mut self, text: &mut String) {
        let refers = |subject: usize| {
            let list = &self.subjects[subject].attributes;
            list.iter().find(|held| held.kind == Kind::Ref).map(|held| held.name.clone())
        };
        let beta_refers = refers(1);
        if self.dice.chance(40) {
            self.uses_name = true;
            let line = "step user[grow(a: Alpha, name: text)] {\n    new Beta(a, name)\n}\n";
            writeln!(text, "{line}").expect("a string takes all");
        }
        if let Some(name) = beta_refers
            && self.dice.chance(60)
        {
            self.uses_name = true;
            writeln!(
                text,
                "step user[graft(b: Beta, name: text)] {{\n    new Beta(b.{name}, name)\n}}\n"
            )
            .expect("a string takes all");
        }
        if self.subjects[0].explicit && self.dice.chance(40) {
            let line = "step user[both(a: new Alpha, b: new Beta)] {}\n";
            writeln!(text, "{line}").expect("a string takes all");
        }
        if self.subjects[0].explicit && self.dice.chance(60) {
            let clause = self.no_children("a");
            writeln!(text, "step user[fell(a: Alpha) {{ {clause} }}] {{\n    delete a\n}}\n")
                .expect("a string takes all");
        }
    }

    /// A clause that lets a record be deleted which may have children.
    pub(super) fn no_children(&mut self, record: &str) -> String {
        let none = self.dice.pick(&[
            "count(Beta of @) = 0",
            "count(Beta of @) < 1",
            "not any c in Beta of @: true",
        ]);
        format!("none: {}", none.replace('@', record))
    }
}
