//! Reading a view.

use std::cell::RefCell;

use design::model::{Type, View, ViewForm};
use engine::Word;
use layout::Pool;
use serde_json::{Map, Value, json};

use super::State;
use super::answers;
use super::cursor;
use super::group::Group;
use super::near;
use super::row::{key_in, put_group};
use crate::calls::CallError;
use crate::core::{ReadError, Runtime};
use crate::feed;
use crate::sight::{Eye, Looked, Mask, Viewer};
use crate::values::{self, BadValue};

/// What is asked of a view.
#[derive(Clone, Debug, Default)]
pub struct ViewQuery {
    pub view: String,
    pub params: Map<String, Value>,
    /// at most so many rows
    pub limit: Option<usize>,
    /// the `next` of the page before
    pub after: Option<String>,
    /// of a rank: where this record stands, and its neighbours
    pub around: Option<Vec<Value>>,
    /// wait until the view reflects this revision
    pub at_least: Option<String>,
    /// who asks a view of the caller, where nobody in particular looks; a viewer is always itself
    pub me: Option<String>,
}

/// Rows in one page, unless the design or the caller says less.
pub(super) const PAGE: usize = 100;

impl Runtime {
    /// Answers with the revision that the view reflects, which is the newest durable one.
    pub fn view(&self, query: &ViewQuery) -> Result<Value, CallError> {
        self.view_as(query, None)
    }

    /// Rows that the viewer sees. What counts rows that the viewer may not see is not answered.
    pub fn view_as(&self, query: &ViewQuery, viewer: Option<&Viewer>) -> Result<Value, CallError> {
        let design = &self.schema.design;
        let Some(at) = design.views.iter().position(|view| view.name == query.view) else {
            let instead = design::instead(&query.view, design.views.iter().map(|v| &*v.name));
            let message = format!("`{}` has no view `{}`; {instead}", design.name, query.view);
            return Err(CallError::Unknown(message));
        };
        let view = &design.views[at];
        if matches!(view.form, ViewForm::Search { .. }) {
            return self.search(at, query, viewer);
        }
        let eye = self.eye(viewer);
        // does every row count that is there?
        let whole = eye.as_ref().is_none_or(|it| it.sees_whole_view(at));
        if !whole && !view.has_rows() {
            let message = format!("`{}` is made of truth that you may not see", view.name);
            return Err(CallError::Hidden(message));
        }
        let looks = Looks { eye: eye.as_ref(), at, whole };
        if let Some(cursor) = &query.at_least {
            self.block_on(self.reached(cursor))?;
        }
        let group = self.group_of(view, query, viewer)?;
        let (state, _) = self.follow()?;
        let empty = Group::default();
        let known = &state.views[at];
        let found = known.groups.get(&group[..]).unwrap_or(&empty);
        let mut answer = match &view.form {
            ViewForm::List { limit, .. } => {
                let most = limit.map_or(PAGE, |limit| limit as usize);
                self.page(&state, found, &looks, (query, &group), most)?
            }
            ViewForm::Rank { top, .. } => {
                let most = top.map_or(PAGE, |top| top as usize);
                self.page(&state, found, &looks, (query, &group), most)?
            }
            ViewForm::Near { .. } => {
                let asked = self.asked_near(view, query)?;
                self.nearest(&state, found, &looks, (query, &group), &asked)?
            }
            form => answers::answer(form, found, query.limit),
        };
        answer["revision"] = json!(state.applied.map(|cursor| cursor.to_string()));
        drop(state);
        self.block_on(self.current_anywhere())?;
        Ok(answer)
    }

    /// The group that the parameters name.
    pub(super) fn group_of(
        &self,
        view: &View,
        query: &ViewQuery,
        viewer: Option<&Viewer>,
    ) -> Result<Vec<u8>, CallError> {
        let schema = &*self.schema;
        let mut pool = Pool::new(schema.program.texts());
        let mut group = Vec::new();
        for (local, _) in &view.group {
            let Some(param) = view.params.iter().find(|param| param.local == *local) else {
                let me = pool.text(self.who_asks(view, query, viewer)?.as_bytes());
                put_group(&mut group, schema, &Type::Actor, &[me], &pool);
                continue;
            };
            let pointer = format!("/params/{}", param.name);
            let Some(value) = query.params.get(&param.name) else {
                let message = format!("`{}` is missing", param.name);
                return Err(CallError::Bad(BadValue::new(pointer, message)));
            };
            let mut words: Vec<Word> = Vec::new();
            values::read(&schema.design, &param.ty, value, &mut pool, &mut words)
                .and_then(|()| {
                    values::in_one_spelling(&schema.design, &param.ty, value, &words, &pool)
                })
                .map_err(|bad| CallError::Bad(BadValue::new(pointer, bad.message)))?;
            put_group(&mut group, schema, &param.ty, &words, &pool);
        }
        for name in query.params.keys() {
            let is_within = matches!(view.form, ViewForm::Near { .. }) && name == near::WITHIN;
            if !is_within && !view.params.iter().any(|param| param.name == *name) {
                let message = format!("`{}` takes no `{name}`", view.name);
                let pointer = format!("/params/{name}");
                return Err(CallError::Bad(BadValue::new(pointer, message)));
            }
        }
        Ok(group)
    }

    /// The principal whose rows are asked for: whoever looks, and nobody else.
    fn who_asks<'q>(
        &self,
        view: &View,
        query: &'q ViewQuery,
        viewer: Option<&'q Viewer>,
    ) -> Result<&'q str, CallError> {
        let caller = view.caller.as_ref().expect("a group without a parameter is the caller's");
        let Some(viewer) = viewer else {
            let missing = "these are the rows of a caller, and nobody is named";
            return query.me.as_deref().ok_or_else(|| {
                CallError::Bad(BadValue::new(String::new(), format!("`{}`: {missing}", view.name)))
            });
        };
        if !self.schema.sight.allows(viewer, caller.actor) {
            let of = &self.schema.design.actors[caller.actor.index()].name;
            let message = format!("`{}` has rows of each `{of}`, which you are not", view.name);
            return Err(CallError::Hidden(message));
        }
        Ok(&viewer.principal)
    }

    fn page(
        &self,
        state: &State,
        found: &Group,
        looks: &Looks<'_>,
        (query, group): (&ViewQuery, &[u8]),
        most: usize,
    ) -> Result<Value, CallError> {
        let schema = &*self.schema;
        let view = &schema.design.views[looks.at];
        let known = &state.views[looks.at];
        let bad = |pointer: &str, message: &str| CallError::Bad(BadValue::new(pointer, message));
        let ranked = matches!(view.form, ViewForm::Rank { .. });
        let limit = query.limit.unwrap_or(PAGE).min(PAGE * 10);
        let mut start = 0;
        let mut limit = if ranked { limit.min(most) } else { limit };
        if let Some(after) = &query.after {
            let after = cursor::place(view, group, after).map_err(|wrong| bad("/after", wrong))?;
            start = found.sorted.position(&after);
            // the row itself may be gone; if it is there, it was shown
            if found.sorted.from(start).next() == Some(&after[..]) {
                start += 1;
            }
        } else if let Some(key) = &query.around {
            let pool = RefCell::new(Pool::new(schema.program.texts()));
            let mut parts = key.iter();
            let handle =
                values::read_key(&schema.design, view.subject, &mut parts, &mut pool.borrow_mut())
                    .map_err(|bad| CallError::Bad(bad.under("around")))?;
            let id = schema.codec().record_key(view.subject, handle, &pool.borrow());
            let row = match known.rows.get(&id[..]) {
                Some(row) if self.shown(state, looks, &row.sort)?.is_some() => row,
                _ => return Err(bad("/around", "this record is not in the view")),
            };
            let position = found.sorted.position(&row.sort);
            start = position.saturating_sub(limit / 2);
        }
        if !ranked && view_limit(view).is_some() {
            limit = limit.min(most.saturating_sub(start));
        }
        let mut rows = Vec::new();
        let mut last = None;
        let mut more = false;
        for (at, sort) in found.sorted.from(start).enumerate() {
            // behind the last row that the view has
            if looks.whole && !ranked && view_limit(view).is_some() && start + at >= most {
                break;
            }
            let Some(mut shown) = self.shown(state, looks, sort)? else { continue };
            if rows.len() >= limit {
                more = true;
                break;
            }
            // a rank counts the rows before it, those that are not seen among them
            if ranked && looks.whole {
                shown["rank"] = json!(start + at + 1);
            }
            rows.push(shown);
            last = Some(sort);
        }
        let next = last.filter(|_| more).map(|sort| cursor::next(view, group, sort));
        let mut page = json!({ "rows": rows, "next": next });
        if looks.whole {
            page["total"] = json!(found.sorted.len());
        }
        Ok(page)
    }

    /// A row with its key and truth. None: it is not seen.
    pub(super) fn shown(
        &self,
        state: &State,
        looks: &Looks<'_>,
        sort: &[u8],
    ) -> Result<Option<Value>, CallError> {
        let view = &self.schema.design.views[looks.at];
        let Some(key) = key_in(sort) else { return Ok(None) };
        let id = self.schema.codec().key_of(view.subject, key).to_bytes();
        let Some(truth) = state.records.get(&id[..]) else { return Ok(None) };
        self.shown_record(state, looks, key, truth)
    }

    /// The same of a record with this key and truth.
    pub(super) fn shown_record(
        &self,
        state: &State,
        looks: &Looks<'_>,
        key: &[u8],
        truth: &[u8],
    ) -> Result<Option<Value>, CallError> {
        let schema = &*self.schema;
        let view = &schema.design.views[looks.at];
        let (codec, key) = (schema.codec(), schema.codec().key_of(view.subject, key));
        let id = key.to_bytes();
        let mut pool = Pool::new(schema.program.texts());
        let handle = codec.handle(key, &mut pool)?;
        let mut words = Vec::new();
        codec
            .take_truth(truth, view.subject, &mut pool, &mut words)
            .map_err(|wrong| ReadError::value(&id, wrong))?;
        let pool = RefCell::new(pool);
        let looked = Looked { subject: view.subject, key: handle, words: Some(&words) };
        let mask = looks.mask(looked, &pool)?;
        if mask == Mask::Nothing {
            return Ok(None);
        }
        let mut parts = Vec::new();
        values::write_key(&schema.design, view.subject, handle, &pool.borrow(), &mut parts);
        let truth = feed::seen_json(schema, view.subject, &words, &pool.borrow(), &mask);
        let mut row = json!({ "key": parts, "truth": truth });
        if !view.with.is_empty() {
            row["with"] = self.columns(state, (looks.at, looks.eye), looked, &pool)?.into();
        }
        Ok(Some(row))
    }
}

/// Who looks at a view.
pub(super) struct Looks<'a> {
    /// none: nothing is hidden
    pub eye: Option<&'a Eye<'a>>,
    /// the view
    pub at: usize,
    /// every row is seen, though perhaps not all of it
    pub whole: bool,
}

impl Looks<'_> {
    /// A row tells of everything that the view looks at, by being there and by where it stands:
    /// where that is not seen, the row is not.
    fn mask(&self, row: Looked<'_>, pool: &RefCell<Pool>) -> Result<Mask, CallError> {
        let Some(eye) = self.eye else { return Ok(Mask::Everything) };
        let mask = eye.mask(row, pool, None)?;
        let mentioned = &eye.of_view(self.at).states;
        let told = mentioned.iter().all(|(_, state)| mask.shows(*state));
        Ok(if told { mask } else { Mask::Nothing })
    }
}

fn view_limit(view: &View) -> Option<u32> {
    match view.form {
        ViewForm::List { limit, .. } => limit,
        _ => None,
    }
}
