//! What the engine keeps along with truth: outbox entries and idempotency outcomes.

use design::model::*;
use layout::{KeyForm, Size, Space, size};

use super::forms::{CommitForm, Expected, Record, WriteForm, WriteKind, plain};
use crate::facts::{Facts, Unit};

pub fn outbox(unit: &Unit<'_>, facts: &Facts<'_>, form: &mut CommitForm) {
    let scope = unit.scope();
    let own = own_tail(unit);
    let mut again = false;
    for (at, send) in facts.sends.iter().enumerate() {
        let sent = &unit.design.operations[send.operation.index()];
        let args: Vec<String> = send.args.iter().map(|arg| scope.text(arg)).collect();
        let effect = matches!(sent.kind, OperationKind::Effect(_));
        let tail = match (effect, &sent.hears, args.first()) {
            (true, ..) => args.join(", "),
            (false, Some(_), Some(key)) => format!("{key}, commit, {at}"),
            // one entry for all of the set
            _ if sent.each.is_some() => args[1..].join(", "),
            (false, ..) => format!("commit, {at}"),
        };
        if send.operation == unit.id && own.as_deref() == Some(tail.as_str()) {
            again = true;
            continue;
        }
        let size = opened(unit.design, sent);
        let known = effect && !send.fresh || sent.each.is_some();
        entry(form, &sent.name, send.operation, &tail, size, known);
    }
    if let Some(tail) = own {
        answered(form, unit, &tail, again);
    }
}

/// The key of the entry that this answers; none: it answers no effect.
fn own_tail(unit: &Unit<'_>) -> Option<String> {
    unit.answer.as_ref()?;
    let names: Vec<&str> = unit.operation.params.iter().map(|p| p.name.as_str()).collect();
    Some(names.join(", "))
}

/// The entry that is answered. It is closed, unless its answer sends it `again`: then the same entry
/// is open as before, to be tried at another time.
fn answered(form: &mut CommitForm, unit: &Unit<'_>, tail: &str, again: bool) {
    let name = format!("outbox_{}", plain(&unit.operation.name));
    let key = KeyForm::outbox(unit.id, tail);
    form.reads.push(Record {
        name: name.clone(),
        path: format!("outbox {}", unit.operation.name),
        key: key.clone(),
        round: 1,
        expected: Expected::Version,
        when: None,
        written: true,
        times: 1,
    });
    let (what, kind) = match again {
        false => ("outbox entry, closed", WriteKind::Remove),
        true => ("outbox entry, open again", WriteKind::Update),
    };
    let size = match again {
        false => Size::NOTHING,
        true => opened(unit.design, unit.operation),
    };
    form.writes.push(WriteForm {
        name: name.clone(),
        what: what.into(),
        key: key.clone(),
        kind,
        when: None,
        size,
        times: 1,
    });
    let mut by_time = |name: String, at: String, kind, when: Option<&str>| {
        form.writes.push(WriteForm {
            key: KeyForm::due(Space::OutboxDue, &at, unit.id, &key.tail()[1..]),
            name,
            what: "outbox by time".into(),
            kind,
            when: when.map(str::to_owned),
            size: Size::NOTHING,
            times: 1,
        });
    };
    let open = Some("the entry is open, not dead");
    by_time(format!("{name}_next"), format!("{name}.next"), WriteKind::Delete, open);
    if again {
        by_time(format!("{name}_again"), format!("{name}_again.next"), WriteKind::Put, None);
    }
}

/// How much an open entry takes.
fn opened(design: &Design, sent: &Operation) -> Size {
    let size = sent
        .params
        .iter()
        .fold(Size::between(6, 20), |sum, param| sum.and(size::of_type(design, &param.ty)));
    Size { open: true, ..size }
}

/// An entry that is opened.
fn entry(
    form: &mut CommitForm,
    effect: &str,
    id: OperationId,
    tail: &str,
    size: Size,
    again: bool,
) {
    let path = format!("outbox {effect}");
    // another one of the same effect, perhaps of another branch
    let name = match form.reads.iter().filter(|read| read.path == path).count() {
        0 => format!("outbox_{}", plain(effect)),
        before => format!("outbox_{}_{}", plain(effect), before + 1),
    };
    let key = KeyForm::outbox(id, tail);
    // its key is known when the step is evaluated
    let before = form.reads.iter().filter(|read| !read.path.starts_with("outbox "));
    let round = 1 + before.map(|read| read.round).max().unwrap_or(0);
    let when = again.then(|| "the entry is not open already".to_owned());
    form.reads.push(Record {
        name: name.clone(),
        path,
        key: key.clone(),
        round,
        expected: Expected::AsRead,
        when: None,
        written: true,
        times: 1,
    });
    form.writes.push(WriteForm {
        name: name.clone(),
        what: "outbox entry, open".into(),
        key: key.clone(),
        kind: if again { WriteKind::Update } else { WriteKind::Create },
        when: when.clone(),
        size,
        times: 1,
    });
    form.writes.push(WriteForm {
        name: format!("{name}_next"),
        what: "outbox by time".into(),
        key: KeyForm::due(Space::OutboxDue, &format!("{name}.next"), id, &key.tail()[1..]),
        kind: WriteKind::Put,
        when,
        size: Size::NOTHING,
        times: 1,
    });
}

pub fn idempotency(unit: &Unit<'_>, form: &mut CommitForm) {
    let OperationKind::Step { keyed } = unit.operation.kind else { return };
    if unit.operation.hears.is_some() || unit.operation.each.is_some() {
        return; // nobody calls it with a key
    }
    let when = (!keyed).then(|| "the call carries an idempotency key".to_owned());
    let key = KeyForm::idempotency();
    form.reads.insert(
        0,
        Record {
            name: "idempotency".into(),
            path: "idempotency".into(),
            key: key.clone(),
            round: 1,
            expected: Expected::Absent,
            when: when.clone(),
            written: true,
            times: 1,
        },
    );
    form.writes.push(WriteForm {
        name: "idempotency".into(),
        what: "idempotency outcome".into(),
        key: key.clone(),
        kind: WriteKind::Create,
        when: when.clone(),
        size: Size { min: 24, max: 40, open: true },
        times: 1,
    });
    form.writes.push(WriteForm {
        name: "idempotency_until".into(),
        what: "idempotency by time".into(),
        key: KeyForm::due(Space::IdempotencyDue, "idempotency.until", OperationId(0), key.tail()),
        kind: WriteKind::Put,
        when,
        size: Size::NOTHING,
        times: 1,
    });
}
