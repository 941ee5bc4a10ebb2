//! What is known of a text: where each name is defined, which type it has, also in broken texts.

use crate::common;

use common::{compiled, designs};
use design::{Analysis, Catalog, Compiled, Definition, DefinitionId, DefinitionKind};
use syntax::tree::*;
use syntax::{Diagnostic, FileId, Span, TokenKind};

const FILE: FileId = FileId(0);

const SEATS: &str = "\
design Seats \"Seats\"

actor buyer { my_epoch: int of Seat }

subject Seat(seat: text) {
  truth Hold {
    holder: actor?
    epoch: int = 0
    phase: Free | Held = Free
  }
}

subject Note(seat: Seat, number: int) {
  truth Text { body: text = \"\" }
}

define is_free(s: Seat) = s.phase = Free

step buyer[hold(seat: Seat) {
  free: is_free(seat) and holder = null
}] {
  let next = epoch + 1
  Hold := { holder: me, epoch: next, phase: Held }
  my_epoch := next
  emit Taken { seat }
}

step buyer[leave(seat: Seat) { mine: holder = me and epoch = my_epoch }] {
  holder := null
  phase := Free
  emit Taken { seat }
}

invariant held_by_someone: all s in Seat: s.phase = Held implies s.holder present

failure \"two hold it\" { without hold.free breaks held_by_someone }

check { seat: 1  number: 1  buyer: 2 }
";

/// Where the nth time this word stands.
fn place(text: &str, word: &str, nth: usize) -> u32 {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let whole =
        |at: usize| !text[..at].ends_with(part) && !text[at + word.len()..].starts_with(part);
    let mut places = text.match_indices(word).map(|(at, _)| at).filter(|at| whole(*at));
    places.nth(nth).unwrap_or_else(|| panic!("`{word}` stands there {nth} times")) as u32
}

/// What the nth use of a word refers to, as `kind owner.name`.
fn meaning(compiled: &Compiled, text: &str, word: &str, nth: usize) -> Vec<String> {
    let analysis = &compiled.analysis;
    let found = analysis.definitions_at(FILE, place(text, word, nth));
    found.into_iter().map(|id| shown(analysis, id)).collect()
}

fn shown(analysis: &Analysis, id: DefinitionId) -> String {
    let definition = analysis.definition(id);
    let owner = definition.owner.map(|owner| analysis.definition(owner).name.as_str());
    let name = owner.map_or(String::new(), |owner| format!("{owner}.")) + &definition.name;
    format!("{:?} {name}", definition.kind)
}

fn names(analysis: &Analysis, found: &[DefinitionId]) -> Vec<String> {
    found.iter().map(|id| analysis.definition(*id).name.clone()).collect()
}

#[test]
fn every_name_leads_to_its_definition() {
    let compiled = compiled(SEATS);
    assert!(!compiled.has_errors(), "{:?}", compiled.diagnostics);
    for (word, nth, expected) in [
        ("buyer", 1, "Actor buyer"),
        ("Seat", 0, "Subject Seat"),
        ("is_free", 1, "Define is_free"),
        ("s", 1, "Parameter is_free.s"),
        ("holder", 1, "Attribute Hold.holder"),
        ("epoch", 1, "Attribute Hold.epoch"),
        ("Free", 2, "Constant phase.Free"),
        ("Hold", 1, "State Seat.Hold"),
        ("next", 1, "Local next"),
        ("my_epoch", 1, "Memory buyer.my_epoch"),
        ("Taken", 1, "Event Taken"),
        ("hold", 2, "Operation hold"),
        ("free", 1, "Clause hold.free"),
        ("held_by_someone", 1, "Goal held_by_someone"),
        // the definition itself
        ("leave", 0, "Operation leave"),
    ] {
        assert_eq!(meaning(&compiled, SEATS, word, nth), [expected], "{word} {nth}");
    }
}

#[test]
fn references_are_found_from_their_definition() {
    let compiled = compiled(SEATS);
    let analysis = &compiled.analysis;
    let id = analysis.definitions_at(FILE, place(SEATS, "epoch", 0))[0];
    let lines: Vec<u32> =
        analysis.references_to(id).map(|span| compiled.sources.position(span).line).collect();
    assert_eq!(lines, [22, 23, 28]);
}

#[test]
fn a_place_has_a_type() {
    let compiled = compiled(SEATS);
    for (word, nth, expected) in [
        ("next", 0, "int"),
        ("holder", 0, "actor?"),
        ("holder", 1, "actor?"),
        ("phase", 0, "Free | Held"),
        ("s", 1, "Seat"),
        ("my_epoch", 0, "int?"),
        ("seat", 2, "Seat"),
    ] {
        let found = compiled.analysis.type_at(FILE, place(SEATS, word, nth));
        let (span, ty) = found.unwrap_or_else(|| panic!("{word} {nth} has none"));
        assert_eq!(compiled.analysis.type_name(ty), expected, "{word} {nth}");
        assert_eq!(compiled.sources.text(span), word);
    }
    let plus = SEATS.find(" + 1").expect("it is there") as u32 + 1;
    let (span, ty) = compiled.analysis.type_at(FILE, plus).expect("a sum has a type");
    assert_eq!(compiled.sources.text(span), "epoch + 1");
    assert_eq!(compiled.analysis.type_name(ty), "int");
}

/// Completes where `|` stands in this line, which replaces the line `from`.
fn completed(from: &str, line: &str) -> Vec<String> {
    let at = SEATS.find(from).expect("the line is there");
    let text = SEATS.replacen(from, &line.replace('|', ""), 1);
    let offset = at + line.find('|').expect("a place is marked");
    let compiled = compiled(&text);
    assert!(compiled.design.is_none(), "it is broken");
    let analysis = &compiled.analysis;
    names(analysis, &analysis.complete(&compiled.sources, FILE, offset as u32))
}

#[test]
fn names_are_completed_in_a_broken_text() {
    let line = "  my_epoch := next\n";
    assert_eq!(
        completed(line, "  my_epoch := seat.|\n"),
        ["seat", "Hold", "holder", "epoch", "phase"]
    );
    assert_eq!(completed(line, "  my_epoch := Hold.e|\n"), ["epoch"]);
    assert_eq!(completed(line, "  my_epoch := ne|\n"), ["next"]);
    assert_eq!(completed(line, "  send hold.|\n")[..1], ["seat"]);
    let all = completed(line, "  if |\n");
    for name in ["next", "seat", "epoch", "my_epoch", "is_free", "Seat", "Held"] {
        assert!(all.iter().any(|known| known == name), "{name} in {all:?}");
    }
    assert!(!all.iter().any(|known| known == "s"), "the variable of another: {all:?}");
}

#[test]
fn an_error_hides_nothing_else() {
    let text = SEATS.replace("  holder := null\n", "  holder := nobody\n  phase := \n");
    let compiled = compiled(&text);
    assert!(compiled.design.is_none());
    assert_eq!(compiled.analysis.diagnostics, compiled.diagnostics);
    assert_eq!(meaning(&compiled, &text, "next", 2), ["Local next"]);
    assert_eq!(meaning(&compiled, &text, "holder", 4), ["Attribute Hold.holder"]);
    assert_eq!(meaning(&compiled, &text, "is_free", 1), ["Define is_free"]);
    assert_eq!(meaning(&compiled, &text, "held_by_someone", 1), ["Goal held_by_someone"]);
}

#[test]
fn an_archetype_is_a_text_of_its_own() {
    struct One;
    impl Catalog for One {
        fn archetype(&self, _: &str) -> Option<&str> {
            Some("archetype Z1 Held \"X\"\nsubject X(x: text) { truth XState { n: int = 0 } }\n")
        }

        fn ids(&self) -> Vec<String> {
            vec!["Z1".into()]
        }
    }
    let text = "design D\nuse Z1 as Seat\nactor a\nstep a[add(seat: Seat)] { n += 1 }\n";
    let compiled = design::compile("test", text, &One);
    assert_eq!(meaning(&compiled, text, "Seat", 1), ["Subject Seat"]);
    let id = compiled.analysis.definitions_at(FILE, place(text, "n", 0))[0];
    let definition = compiled.analysis.definition(id);
    assert_eq!(shown(&compiled.analysis, id), "Attribute SeatState.n");
    assert_eq!(compiled.sources.get(definition.span.file).map(|s| &*s.name), Some("Z1 as Seat"));
    assert_eq!(compiled.sources.text(definition.span), "n");
}

#[test]
fn a_text_of_nothing_has_an_analysis() {
    for text in ["", "}", "step", "é", "design"] {
        let compiled = compiled(text);
        assert!(compiled.analysis.definitions().is_empty(), "{text}");
        assert!(compiled.analysis.definitions_at(FILE, 0).is_empty());
        assert!(compiled.analysis.type_at(FILE, 7).is_none());
        assert!(compiled.analysis.complete(&compiled.sources, FILE, 1).is_empty());
    }
}

/// Collects the names that stand in guards and effects.
#[derive(Default)]
struct Names(Vec<Name>);

impl Names {
    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Assign { target, value, .. } => {
                    self.expr(target);
                    // the fields of a record for a whole state are its attributes
                    if let ExprKind::Record(fields) = &value.kind {
                        self.0.extend(fields.iter().map(|field| field.name.clone()));
                    }
                    self.expr(value);
                }
                StmtKind::Let { name, value } => {
                    self.0.push(name.clone());
                    self.expr(value);
                }
                StmtKind::New { subject, keys, fields } => {
                    self.0.push(subject.clone());
                    keys.iter().for_each(|key| self.expr(key));
                    self.0.extend(fields.iter().map(|field| field.name.clone()));
                    self.fields(fields);
                }
                StmtKind::Delete { target } => self.expr(target),
                StmtKind::Append { log, fields } => {
                    self.expr(log);
                    self.0.extend(fields.iter().map(|field| field.name.clone()));
                    self.fields(fields);
                }
                StmtKind::Emit { event, fields } => {
                    self.0.push(event.clone());
                    self.fields(fields);
                }
                StmtKind::Send { each, actor, operation, args } => {
                    if let Some(each) = each {
                        self.0.push(each.var.clone());
                        self.domain(&each.domain);
                        each.filter.iter().for_each(|filter| self.expr(filter));
                    }
                    self.0.extend([actor.clone(), operation.clone()]);
                    args.iter().for_each(|arg| self.expr(arg));
                }
                StmtKind::For { var, domain, body } => {
                    self.0.push(var.clone());
                    self.domain(domain);
                    self.block(body);
                }
                StmtKind::If { condition, then, otherwise } => {
                    self.expr(condition);
                    self.block(then);
                    otherwise.iter().for_each(|block| self.block(block));
                }
                StmtKind::Error => {}
            }
        }
    }

    fn fields(&mut self, fields: &[FieldValue]) {
        for field in fields {
            match &field.value {
                Some(value) => self.expr(value),
                None => self.0.push(field.name.clone()),
            }
        }
    }

    fn domain(&mut self, domain: &Domain) {
        self.expr(&domain.of_what);
        domain.parent.iter().for_each(|parent| self.expr(parent));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.0.push(name.clone()),
            ExprKind::Field { base, name } => {
                self.expr(base);
                self.0.push(name.clone());
            }
            ExprKind::Call { function, args } => {
                self.0.push(function.clone());
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Index { base: left, index: right } | ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Presence { of: inner, .. }
            | ExprKind::Old(inner)
            | ExprKind::Not(inner)
            | ExprKind::Round { of: inner, .. }
            | ExprKind::Negate(inner) => self.expr(inner),
            ExprKind::And(parts)
            | ExprKind::Or(parts)
            | ExprKind::Set(parts)
            | ExprKind::List(parts) => parts.iter().for_each(|part| self.expr(part)),
            ExprKind::If { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(|part| self.expr(part));
            }
            ExprKind::Let { name, value, body } => {
                self.0.push(name.clone());
                self.expr(value);
                self.expr(body);
            }
            ExprKind::Quantifier { var, domain, filter, body, .. } => {
                self.0.push(var.clone());
                self.domain(domain);
                filter.iter().for_each(|filter| self.expr(filter));
                self.expr(body);
            }
            ExprKind::Aggregate { value, var, domain, filter, .. } => {
                self.0.extend(var.clone());
                self.domain(domain);
                value.iter().chain(filter).for_each(|part| self.expr(part));
            }
            ExprKind::Record(fields) => self.fields(fields),
            _ => {}
        }
    }

    fn operation(&mut self, operation: &OperationItem) {
        self.0.push(operation.actor.clone());
        for clause in &operation.guard {
            self.0.extend(clause.name.clone());
            self.expr(&clause.body);
        }
        match &operation.body {
            OperationBody::Statements(block) => self.block(block),
            OperationBody::Read { result, memory, .. } => {
                self.expr(result);
                self.block(memory);
            }
            OperationBody::Effect(effect) => {
                if let Some(call) = &effect.call {
                    call.key.iter().for_each(|key| self.expr(key));
                    call.body.iter().for_each(|fields| self.fields(fields));
                }
                if let Some(sign) = &effect.sign {
                    self.expr(&sign.digest);
                    self.expr(&sign.key);
                }
                for answer in &effect.answers {
                    self.block(&answer.body);
                }
            }
            OperationBody::Missing => {}
        }
    }
}

/// Words that the language gives a meaning: functions, and what every log has.
const BUILT_IN: [&str; 11] = [
    "min", "max", "size", "stored", "slice", "hash", "verified", "included", "start", "end", "next",
];

/// Where the text uses something.
fn uses(items: &[Item]) -> Vec<Span> {
    let uses = items.iter().filter(|item| matches!(item.kind, ItemKind::Use(_)));
    uses.map(|item| item.span).collect()
}

fn inside(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// The names of the guards and effects that lead nowhere, and those that lead to another name.
fn lost(compiled: &Compiled, items: &[Item]) -> (usize, Vec<String>) {
    let mut names = Names::default();
    for item in items {
        match &item.kind {
            ItemKind::Operation(operation) => names.operation(operation),
            ItemKind::Define(define) => names.expr(&define.body),
            // a family of goals is put in place as a text of its own
            ItemKind::Invariant { body, .. } | ItemKind::Recovers { body, .. }
                if !matches!(body.kind, ExprKind::Call { .. }) =>
            {
                names.expr(body);
            }
            _ => {}
        }
    }
    let mut lost = Vec::new();
    for name in &names.0 {
        let found = compiled.analysis.definitions_at(name.span.file, name.span.start);
        let leads = !found.is_empty()
            && found.iter().all(|id| {
                let definition = compiled.analysis.definition(*id);
                // what is used is defined in its own text, under the name that it has there
                let used = definition.span.file != FILE
                    || uses(items).iter().any(|item| inside(*item, definition.span));
                definition.name == name.text
                    && (used || compiled.sources.text(definition.span) == name.text)
            });
        let world = ["world", "messages", "outbox"].contains(&name.text.as_str());
        if !leads && !BUILT_IN.contains(&name.text.as_str()) && !world {
            let at = compiled.sources.position(name.span);
            lost.push(format!("{}:{} `{}`", at.line, at.column, name.text));
        }
    }
    (names.0.len(), lost)
}

#[test]
fn every_name_in_the_catalog_leads_to_a_definition_of_that_name() {
    let (mut designs_seen, mut names_seen) = (0, 0);
    for (path, text) in designs() {
        let compiled = compiled(&text);
        let items = syntax::parse(&text, FILE).tree.items;
        let (names, lost) = lost(&compiled, &items);
        assert_eq!(lost, [""; 0], "{path}");
        // what is used has other names there, and in the lines that change it
        let uses = uses(&items);
        let own = |span: Span| span.file == FILE && !uses.iter().any(|item| inside(*item, span));
        for reference in compiled.analysis.references() {
            if !own(reference.span) {
                continue;
            }
            let definition = compiled.analysis.definition(reference.definition);
            assert_eq!(compiled.sources.text(reference.span), definition.name, "{path}");
        }
        designs_seen += 1;
        names_seen += names;
    }
    assert!(designs_seen > 20 && names_seen > 3_000, "{designs_seen} designs, {names_seen} names");
}

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
