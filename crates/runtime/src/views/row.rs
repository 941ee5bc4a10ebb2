//! What a record contributes to a view, by the engine's own evaluation.
//!
//! For each view the program has one more operation: a read of one record whose guard is the
//! view's condition and whose answer is what the view keeps of the row.

use design::model::{
    Clause, Design, Expr, ExprKind, LocalId, Operation, OperationId, OperationKind, Param, Type,
    View, ViewForm,
};
use engine::{Command, NULL, Outcome, Word};
use layout::key::{from_sortable, put_parts, put_text, sortable};
use layout::{Pool, Wrong, value as stored_value};

use super::places::Place;
use crate::calls::Room;
use crate::core::{Loaded, ReadError, Schema};

/// What a view keeps of one record.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// the values of the grouping parameters, encoded
    pub group: Vec<u8>,
    /// sorts as the view does; ends in the record's key and its length
    pub sort: Vec<u8>,
    /// of a sum, an average, a greatest, a least or a window; 1 where rows are counted
    pub value: Word,
    /// of a window: the time it runs over
    pub at: Word,
    /// of rows by their distance: where it is
    pub place: Option<Place>,
}

/// The operations that evaluate views, to be appended to those of the design.
pub fn operations(design: &Design) -> Vec<Operation> {
    design.views.iter().map(|view| operation(design, view)).collect()
}

fn operation(design: &Design, view: &View) -> Operation {
    let mut fields: Vec<(String, Expr)> = Vec::new();
    for (at, (_, value)) in view.group.iter().enumerate() {
        fields.push((format!("group{at}"), value.clone()));
    }
    for (at, (value, _)) in order(view).iter().enumerate() {
        fields.push((format!("sort{at}"), (*value).clone()));
    }
    if let Some(value) = value(view) {
        fields.push(("value".into(), value.clone()));
    }
    if let ViewForm::Window { by, .. } = &view.form {
        fields.push(("at".into(), by.clone()));
    }
    if let ViewForm::Near { on, .. } = &view.form {
        let attribute = &design.subjects[view.subject.index()].attributes[on.index()];
        let row = Expr {
            kind: ExprKind::Local(LocalId(0)),
            ty: Type::Ref(view.subject),
            span: view.span,
        };
        let kind = ExprKind::Attr { base: Box::new(row), attr: *on };
        fields.push(("place".into(), Expr { kind, ty: attribute.ty.clone(), span: view.span }));
    }
    let ty =
        Type::Record(fields.iter().map(|(name, value)| (name.clone(), value.ty.clone())).collect());
    let span = view.span;
    let result = Expr { kind: ExprKind::Record(fields), ty, span };
    let guard = view
        .filter
        .iter()
        .map(|filter| Clause { name: "where".into(), body: filter.clone(), span })
        .collect();
    of_row(design, view, guard, result)
}

/// A read of one row.
pub(super) fn of_row(design: &Design, view: &View, guard: Vec<Clause>, result: Expr) -> Operation {
    let span = view.span;
    let row = Param {
        name: "row".into(),
        ty: Type::Ref(view.subject),
        range: None,
        new: false,
        from_caller: false,
        default: None,
        generated: None,
        local: design::model::LocalId(0),
        span,
    };
    Operation {
        rate: None,
        hears: None,
        each: None,
        kind: OperationKind::Read { result },
        // nobody acts; any actor does
        actor: design.operations.first().map_or(design::model::ActorId(0), |first| first.actor),
        name: format!("view {}", view.name),
        params: vec![row],
        locals: view.locals.clone(),
        guard,
        body: Vec::new(),
        memory: Vec::new(),
        span,
        head: span,
    }
}

pub(super) fn order(view: &View) -> Vec<(&Expr, bool)> {
    match &view.form {
        ViewForm::List { order, .. } => {
            order.iter().map(|key| (&key.value, key.descending)).collect()
        }
        ViewForm::Rank { by, .. } => vec![(&by.value, by.descending)],
        ViewForm::Extreme { greatest, value } => vec![(value, *greatest)],
        _ => Vec::new(),
    }
}

fn value(view: &View) -> Option<&Expr> {
    match &view.form {
        ViewForm::Sum { value }
        | ViewForm::Extreme { value, .. }
        | ViewForm::Average { value, .. } => Some(value),
        ViewForm::Window { value, .. } => value.as_ref(),
        _ => None,
    }
}

/// The row of a record in a view; none: it is not in it.
pub fn row(
    schema: &Schema,
    at: usize,
    operation: OperationId,
    loaded: &Loaded<'_>,
    key: Word,
    room: &mut Room,
) -> Result<Option<Row>, ReadError> {
    let view = &schema.design.views[at];
    let params = [key];
    let command =
        Command { operation, params: &params, memory: &[], me: NULL, now: 0, answer: None };
    match engine::step(&schema.program, loaded, &command, &mut room.scratch) {
        Outcome::Done => {}
        Outcome::Refused(_) => return Ok(None),
        Outcome::Need => unreachable!("a view reads its row alone, which is loaded"),
    }
    let words = room.scratch.result();
    let pool = loaded.pool.borrow();
    let mut next = 0;
    let mut take = |ty: &Type| -> Vec<Word> {
        let width = engine::width_of(ty) as usize;
        let taken = words[next..next + width].to_vec();
        next += width;
        taken
    };
    let mut group = Vec::new();
    for (_, value) in &view.group {
        put_group(&mut group, schema, &value.ty, &take(&value.ty), &pool);
    }
    let mut sort = Vec::new();
    for (value, descending) in order(view) {
        let start = sort.len();
        sort_key(&mut sort, &value.ty, take(&value.ty)[0], &pool);
        if descending {
            sort[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }
    let before = sort.len();
    put_parts(&mut sort, &schema.design, view.subject, key, &pool);
    let length = u16::try_from(sort.len() - before).map_err(|_| {
        let key = schema.codec().record_key(view.subject, key, &pool);
        ReadError::value(&key, Wrong::KeyTooLong)
    })?;
    sort.extend_from_slice(&length.to_be_bytes());
    let amount = match value(view) {
        Some(value) => take(&value.ty)[0],
        None => 1,
    };
    let time = match &view.form {
        ViewForm::Window { by, .. } => take(&by.ty)[0],
        _ => 0,
    };
    if amount == NULL || time == NULL {
        return Ok(None);
    }
    let mut place = None;
    if let ViewForm::Near { on, .. } = &view.form {
        let ty = &schema.design.subjects[view.subject.index()].attributes[on.index()].ty;
        let word = take(ty)[0];
        // where it is is not known
        if word == NULL {
            return Ok(None);
        }
        place = Place::stored(pool.content(word));
    }
    Ok(Some(Row { group, sort, value: amount, at: time, place }))
}

/// The record's key at the end of a sort key.
pub fn key_in(sort: &[u8]) -> Option<&[u8]> {
    let (rest, length) = sort.split_last_chunk::<2>()?;
    rest.get(rest.len().checked_sub(usize::from(u16::from_be_bytes(*length)))?..)
}

/// The number that a sort key begins with.
pub fn first_number(sort: &[u8], descending: bool) -> Word {
    let bytes: [u8; 8] = sort[1..9].try_into().expect("a number has eight bytes");
    from_sortable(if descending { bytes.map(|byte| !byte) } else { bytes })
}

/// A value of a grouping parameter, the same whether it comes from a row or from a caller.
pub fn put_group(out: &mut Vec<u8>, schema: &Schema, ty: &Type, words: &[Word], pool: &Pool) {
    let ty = ty.required();
    if words[0] == NULL {
        out.push(0);
        return;
    }
    out.push(1);
    stored_value::put(out, &schema.design, ty, words, pool);
}

/// Nothing sorts before everything; texts sort by their bytes.
fn sort_key(out: &mut Vec<u8>, ty: &Type, word: Word, pool: &Pool) {
    if word == NULL {
        out.push(0);
        return;
    }
    out.push(1);
    if stored_value::is_text(ty.required()) {
        put_text(out, pool.content(word));
    } else {
        out.extend_from_slice(&sortable(word));
    }
}
