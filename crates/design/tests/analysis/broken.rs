//! Texts with a hole: what stands beside it is known as before.

use design::{Compiled, Definition, DefinitionKind};
use syntax::tree::*;
use syntax::{Diagnostic, Span, TokenKind};

use super::FILE;
use super::catalog::inside;
use crate::common::{compiled, designs};

/// Random numbers that are the same on every machine (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
    }
}

const BROKEN_OF_EACH: usize = if cfg!(debug_assertions) { 10 } else { 150 };

/// How many names of the items that did not change lead somewhere.
fn resolved(compiled: &Compiled, untouched: &[Span]) -> usize {
    let inside =
        |at: Span| untouched.iter().any(|item| item.start <= at.start && at.end <= item.end);
    let references = compiled.analysis.references().iter();
    references.filter(|reference| inside(reference.span)).count()
}

/// The definitions of the items that did not change. An actor to whom a design adds something is defined in what the
/// design uses, as long as that is read: then the item defines none.
fn kept(
    compiled: &Compiled,
    whole: &Compiled,
    untouched: &[Span],
) -> Vec<(String, DefinitionKind, u32)> {
    let added_to = |definition: &Definition| {
        let known = whole.analysis.definitions().iter();
        definition.kind == DefinitionKind::Actor
            && known
                .filter(|it| it.kind == DefinitionKind::Actor && it.span.file != FILE)
                .any(|it| it.name == definition.name)
    };
    let inside = |definition: &&Definition| {
        let at = definition.span;
        let own = at.file == FILE;
        own && untouched.iter().any(|item| item.start <= at.start && at.end <= item.end)
    };
    let mut found: Vec<_> = compiled
        .analysis
        .definitions()
        .iter()
        .filter(inside)
        .filter(|definition| !added_to(definition))
        // an event is defined where it is emitted first, which may be what was broken
        .filter(|definition| definition.kind != DefinitionKind::Event)
        // and the world of what is used stands at its noun, unless the design's own says the same
        .filter(|definition| {
            definition.kind != DefinitionKind::World
                || compiled.sources.text(definition.span) == definition.name
        })
        .map(|definition| (definition.name.clone(), definition.kind, definition.span.start))
        .collect();
    found.sort();
    found
}

#[test]
fn a_text_without_one_of_its_tokens_still_knows_what_the_rest_defines() {
    let mut random = Random(14);
    let mut broken = 0;
    let (mut near_whole, mut near_broken) = (0, 0);
    let (mut known_whole, mut known_broken) = (0, 0);
    for (path, text) in designs() {
        let whole = compiled(&text);
        let parsed = syntax::parse(&text, FILE);
        let tokens: Vec<Span> = parsed
            .tokens
            .iter()
            .filter(|token| token.kind != TokenKind::Comment && token.span.start < token.span.end)
            .map(|token| token.span)
            .collect();
        for _ in 0..BROKEN_OF_EACH {
            let gone = tokens[random.below(tokens.len())];
            // blanks in its place, so that everything else stays where it was
            let blanks = " ".repeat((gone.end - gone.start) as usize);
            let mut spoilt = text.clone();
            spoilt.replace_range(gone.start as usize..gone.end as usize, &blanks);
            let spoilt_compiled = compiled(&spoilt);
            broken += usize::from(spoilt_compiled.has_errors());
            // what the parser still reads as it did is untouched; a `use` is not carried out in the lines that it
            // complains of, even where it guesses them
            let again = syntax::parse(&spoilt, FILE);
            let items = again.tree.items;
            let complained = |item: &Item| {
                let about = |said: &Diagnostic| inside(item.span, said.primary.span);
                matches!(item.kind, ItemKind::Use(_)) && again.diagnostics.iter().any(about)
            };
            // what a name in a test stands for follows from the parameter of the step that it is given to
            let is_test = |item: &Item| matches!(item.kind, ItemKind::Test(_));
            let less = parsed
                .tree
                .items
                .iter()
                .any(|item| !is_test(item) && (!items.contains(item) || complained(item)));
            let rests_on_it = |item: &Item| less && is_test(item);
            let untouched: Vec<Span> = parsed
                .tree
                .items
                .iter()
                .filter(|item| items.contains(item) && !complained(item) && !rests_on_it(item))
                .map(|item| item.span)
                .collect();
            let resting = parsed.tree.items.iter().filter(|item| rests_on_it(item)).count();
            let left = untouched.len() + resting;
            assert!(left + 3 >= parsed.tree.items.len(), "{path} without {gone:?}");
            assert_eq!(
                kept(&spoilt_compiled, &whole, &untouched),
                kept(&whole, &whole, &untouched),
                "{path} without `{}` at {gone:?}",
                gone.text(&text)
            );
            known_whole += resolved(&whole, &untouched);
            known_broken += resolved(&spoilt_compiled, &untouched);
            let around = |item: &&Item| item.span.start <= gone.start && gone.end <= item.span.end;
            if let Some(item) = parsed.tree.items.iter().find(around) {
                near_whole += resolved(&whole, &[item.span]);
                near_broken += resolved(&spoilt_compiled, &[item.span]);
            }
            // and whatever is asked is answered
            let at = random.below(text.len()) as u32;
            spoilt_compiled.analysis.definitions_at(FILE, at);
            spoilt_compiled.analysis.type_at(FILE, at);
            spoilt_compiled.analysis.complete(&spoilt_compiled.sources, FILE, gone.start);
        }
    }
    assert!(broken > 10 * BROKEN_OF_EACH, "only {broken} texts were broken");
    // a name may well lead nowhere because what it stood for is what was broken
    let share = known_broken as f64 / known_whole as f64;
    assert!(share > 0.99, "{known_broken} of {known_whole} names are still known");
    let share = near_broken as f64 / near_whole as f64;
    assert!(share > 0.7, "{near_broken} of {near_whole} names in the broken item itself");
}
