//! Hotspots: what gets hot first.

use syntax::Diagnostic;
use syntax::tree::{ExprKind, HeaderValue, Item, ItemKind};

use super::Compiler;
use crate::model::*;
use crate::suggest;

impl Compiler {
    pub(super) fn hotspots(&mut self, items: &[Item]) {
        for item in items {
            let ItemKind::Hotspot(written) = &item.kind else {
                continue;
            };
            let Some(on) = self.hotspot_on(&written.on) else {
                continue;
            };
            let mitigate = written
                .mitigate
                .iter()
                .map(|value| match value {
                    HeaderValue::Word(name) => name.text.clone(),
                    HeaderValue::Text(text) => text.value.clone(),
                })
                .collect();
            self.design.hotspots.push(Hotspot {
                title: written.title.value.clone(),
                on,
                mitigate,
                span: written.title.span,
            });
        }
    }

    /// A subject, a state, an attribute, a view or an operation.
    fn hotspot_on(&mut self, written: &syntax::tree::Expr) -> Option<HotspotOn> {
        let mut words = Vec::new();
        let mut at = written;
        while let ExprKind::Field { base, name } = &at.kind {
            words.insert(0, name.clone());
            at = base;
        }
        if let ExprKind::Name(name) = &at.kind {
            words.insert(0, name.clone());
        }
        let Some(first) = words.first().map(|word| word.text.clone()) else {
            self.nothing_to_get_hot(written.span);
            return None;
        };
        if let Some(&subject) = self.names.subjects.get(&first) {
            self.known.refer(&words[0], self.design.subjects[subject.index()].span);
            return match words.get(1) {
                None => Some(HotspotOn::Subject(subject)),
                Some(second) => {
                    if let Some(state) = self.names.state(subject, &second.text) {
                        self.refer_to_state(second, subject, state);
                        return self.in_state(subject, state, words.get(2));
                    }
                    if let [attr] = self.names.attribute(subject, &second.text) {
                        let attribute =
                            &self.design.subjects[subject.index()].attributes[attr.index()];
                        self.known.refer(second, attribute.span);
                        return Some(HotspotOn::Attribute(subject, *attr));
                    }
                    self.nothing_to_get_hot(written.span);
                    None
                }
            };
        }
        if let Some(&view) = self.names.views.get(&first) {
            self.known.refer(&words[0], self.design.views[view.index()].span);
            return Some(HotspotOn::View(view));
        }
        if let Some(&operation) = self.names.operations.get(&first) {
            self.known.refer(&words[0], self.operation_names[operation.index()]);
            return Some(HotspotOn::Operation(operation));
        }
        if let Some([(subject, state)]) = self.names.states.get(&first).map(Vec::as_slice) {
            let (subject, state) = (*subject, *state);
            self.refer_to_state(&words[0], subject, state);
            return self.in_state(subject, state, words.get(1));
        }
        self.nothing_to_get_hot(written.span);
        None
    }

    fn in_state(
        &mut self,
        subject: SubjectId,
        state: StateId,
        attribute: Option<&syntax::tree::Name>,
    ) -> Option<HotspotOn> {
        let Some(attribute) = attribute else {
            return Some(HotspotOn::State(subject, state));
        };
        let owner = &self.design.subjects[subject.index()];
        let found = owner.states[state.index()]
            .attributes
            .iter()
            .find(|attr| owner.attributes[attr.index()].name == attribute.text);
        match found {
            Some(attr) => {
                self.known.refer(attribute, owner.attributes[attr.index()].span);
                Some(HotspotOn::Attribute(subject, *attr))
            }
            None => {
                self.nothing_to_get_hot(attribute.span);
                None
            }
        }
    }

    fn nothing_to_get_hot(&mut self, span: syntax::Span) {
        let text = self.text(span);
        let words: Vec<String> = self
            .names
            .subjects
            .keys()
            .chain(self.names.views.keys())
            .chain(self.names.states.keys())
            .chain(self.names.operations.keys())
            .cloned()
            .collect();
        let mut problem =
            Diagnostic::error("E0609", span, format!("nothing called `{text}` can get hot"));
        problem = match suggest::did_you_mean(&text, words.iter().map(String::as_str)) {
            Some(hint) => problem.help(hint),
            None => problem
                .help("a hotspot is on a subject, a state, an attribute, a view or an operation"),
        };
        if !self.something_is_missing() {
            self.report(problem);
        }
    }
}
