//! Asking a `search` view.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use store::Cursor;

use super::super::query::{Looks, PAGE};
use super::super::{State, ViewQuery, cursor};
use super::Opened;
use super::seam::{TextAsked, TextFound, TextSnapshot, TextTrouble};
use crate::calls::CallError;
use crate::core::Runtime;
use crate::sight::Viewer;
use crate::values::BadValue;

/// Parameters that say what is searched; no parameter of a `search` view itself can have these names.
const WORDS: &str = "q";
const FACETS: &str = "facet";
/// Attributes that the hits of one answer are counted by.
const FACETS_MAX: usize = 8;
/// Hits that are looked at together, where some of them are not seen.
const HITS_MAX: usize = 16_384;

fn bad(name: &str, message: impl Into<String>) -> CallError {
    CallError::Bad(BadValue::new(format!("/params/{name}"), message.into()))
}

/// What was asked of the engine went wrong.
fn asked_wrong(trouble: TextTrouble) -> CallError {
    match trouble {
        TextTrouble::Words(wrong) => bad(WORDS, wrong),
        TextTrouble::Place => CallError::Bad(BadValue::new("/after", trouble.to_string())),
        trouble => super::unavailable(trouble),
    }
}

impl Runtime {
    /// The hits that the viewer sees. How many there are, by facets or in all, and their scores are told where all of
    /// them are seen.
    pub(in super::super) fn search(
        &self,
        at: usize,
        query: &ViewQuery,
        viewer: Option<&Viewer>,
    ) -> Result<Value, CallError> {
        let view = &self.schema.design.views[at];
        let opened = self.opened(at)?;
        let mut rest = ViewQuery { params: query.params.clone(), ..ViewQuery::default() };
        rest.me.clone_from(&query.me);
        let words = rest.params.remove(WORDS);
        let Some(Value::String(words)) = words else {
            return Err(bad(WORDS, "what to look for is missing, such as `q=word`"));
        };
        if query.around.is_some() {
            let message = "hits have no neighbours; leave it out";
            return Err(CallError::Bad(BadValue::new("/around", message)));
        }
        let eye = self.eye(viewer);
        let whole = eye.as_ref().is_none_or(|it| it.sees_whole_view(at));
        let looks = Looks { eye: eye.as_ref(), at, whole };
        let facets = self.facets(&opened, &looks, rest.params.remove(FACETS))?;
        let group = self.group_of(view, &rest, viewer)?;
        let at_least = match &query.at_least {
            None => None,
            Some(revision) => {
                self.block_on(self.reached(revision))?;
                revision.parse::<Cursor>().ok()
            }
        };
        let asked = Asked { words: &words, group: &group, facets: &facets };
        let (snapshot, mut revision) = self.current(&opened, at, at_least)?;
        self.still_current()?;
        let mut answer = match self.hits(&opened, snapshot.as_ref(), &looks, query, &asked) {
            Err(Missed::Text(TextTrouble::Damaged(how))) => {
                self.discard_index(&opened, at, &how)?;
                let (snapshot, newer) = self.current(&opened, at, at_least)?;
                revision = newer;
                self.hits(&opened, snapshot.as_ref(), &looks, query, &asked)
            }
            answer => answer,
        }
        .map_err(|missed| match missed {
            Missed::Text(trouble) => asked_wrong(trouble),
            Missed::Call(error) => error,
        })?;
        answer["revision"] = json!(revision.to_string());
        Ok(answer)
    }

    /// The attributes that hits are counted by, by their places in the document.
    fn facets(
        &self,
        opened: &Opened,
        looks: &Looks<'_>,
        asked: Option<Value>,
    ) -> Result<Vec<usize>, CallError> {
        let view = &self.schema.design.views[looks.at];
        let Some(asked) = asked else { return Ok(Vec::new()) };
        let names: Vec<&str> = asked.as_str().unwrap_or_default().split(',').collect();
        if names.len() > FACETS_MAX {
            return Err(bad(FACETS, format!("at most {FACETS_MAX} attributes are counted by")));
        }
        let known = &opened.document.facets;
        let mut found = Vec::new();
        for name in names {
            let Some(facet) = known.iter().position(|facet| facet.name == name) else {
                let instead = design::instead(name, known.iter().map(|facet| &*facet.name));
                return Err(bad(FACETS, format!("hits are not counted by `{name}`; {instead}")));
            };
            let told = |eye: &&crate::sight::Eye<'_>| {
                looks.whole && eye.sees_on_every_row(looks.at, known[facet].state)
            };
            if looks.eye.is_some_and(|eye| !told(&eye)) {
                let message = format!(
                    "counting the hits of `{}` by `{name}` tells of truth that you may not see",
                    view.name
                );
                return Err(CallError::Hidden(message));
            }
            found.push(facet);
        }
        Ok(found)
    }

    /// The index as it is, if that is new enough, and the revision it reflects.
    fn current(
        &self,
        opened: &Opened,
        at: usize,
        at_least: Option<Cursor>,
    ) -> Result<(Arc<dyn TextSnapshot>, Cursor), CallError> {
        let lag_ms = u128::from(self.settings.search_lag_ms.unsigned_abs());
        let kept = self.kept(opened, at_least);
        let now = self.settings.surroundings.now();
        let looked = opened.reflects().as_ref().map(|known| known.at);
        let is_fresh = looked.is_some_and(|looked| now.since(looked).as_millis() < lag_ms);
        if let Some(kept) = kept.clone().filter(|_| is_fresh) {
            return Ok(kept);
        }
        match (self.fold(opened, at, kept.is_none()), kept) {
            // what is kept is whole, though nothing can be added to it now
            (Err(CallError::Store(store::Error::Unavailable(why))), Some(kept)) => {
                let (design, view) = (&self.schema.design.name, &self.schema.design.views[at].name);
                tracing::warn!(%design, %view, %why, "a search index does not follow");
                return Ok(kept);
            }
            (folded, _) => folded?,
        };
        self.kept(opened, at_least).ok_or_else(|| {
            super::unavailable(TextTrouble::Unavailable("it does not reach the revision".into()))
        })
    }

    fn kept(
        &self,
        opened: &Opened,
        at_least: Option<Cursor>,
    ) -> Option<(Arc<dyn TextSnapshot>, Cursor)> {
        // before the snapshot: what nothing has changed since may only be older than that
        let known = opened.reflects().as_ref().map(|known| (known.committed, known.up_to));
        let snapshot = opened.index.snapshot()?;
        let committed: Cursor = snapshot.cursor().parse().ok()?;
        let revision = match known {
            Some((of, up_to)) if of == committed => up_to,
            _ => committed,
        };
        at_least.is_none_or(|wanted| wanted.is_within(revision)).then_some((snapshot, revision))
    }

    fn hits(
        &self,
        opened: &Opened,
        snapshot: &dyn TextSnapshot,
        looks: &Looks<'_>,
        query: &ViewQuery,
        asked: &Asked<'_>,
    ) -> Result<Value, Missed> {
        let view = &self.schema.design.views[looks.at];
        // rows show other records as the views know them
        let (followed, alone);
        let state: &State = if view.with.is_empty() {
            alone = State::default();
            &alone
        } else {
            followed = self.follow()?.0;
            &followed
        };
        let basis = asked.basis(looks.whole);
        let mut after = match &query.after {
            None => None,
            Some(after) => Some(cursor::place(view, &basis, after).map_err(|wrong| {
                Missed::Call(CallError::Bad(BadValue::new("/after", wrong.to_string())))
            })?),
        };
        let limit = query.limit.unwrap_or(PAGE).clamp(1, PAGE * 10);
        let mut together = limit;
        let (mut rows, mut last, mut more) = (Vec::new(), None, false);
        let mut counted: Option<TextFound> = None;
        'pages: loop {
            let mut found = snapshot.find(&TextAsked {
                words: asked.words,
                group: asked.group,
                after: after.as_deref(),
                limit: together,
                alone: !looks.whole,
                facets: if counted.is_none() { asked.facets } else { &[] },
            })?;
            let hits = std::mem::take(&mut found.hits);
            let is_last = !found.more;
            counted.get_or_insert(found);
            for hit in hits {
                let shown = self.shown_record(state, looks, &hit.key, &hit.truth)?;
                if let Some(mut row) = shown {
                    if rows.len() == limit {
                        more = true;
                        break 'pages;
                    }
                    if looks.whole {
                        row["score"] = json!(hit.score);
                    }
                    row["highlights"] = self.highlights(opened, snapshot, asked.words, &row)?;
                    rows.push(row);
                    last = Some(hit.place.clone());
                }
                after = Some(hit.place);
            }
            if is_last {
                break;
            }
            // where all are seen there is no need to look for the next one
            if looks.whole && rows.len() == limit {
                more = true;
                break;
            }
            together = (together * 2).min(HITS_MAX);
        }
        let next = last.filter(|_| more).map(|place| cursor::next(view, &basis, &place));
        let mut page = json!({ "rows": rows, "next": next });
        if let Some(counted) = counted.filter(|_| looks.whole) {
            page["total"] = json!(counted.total);
            if !asked.facets.is_empty() {
                page["facets"] = named(opened, asked.facets, counted.facets).into();
            }
        }
        Ok(page)
    }

    /// By attribute, where its text is hit. A row that is shown shows its searched texts.
    fn highlights(
        &self,
        opened: &Opened,
        snapshot: &dyn TextSnapshot,
        words: &str,
        row: &Value,
    ) -> Result<Value, Missed> {
        let mut found = Map::new();
        let subject = self.schema.design.views[opened.document.view].subject;
        let states = &self.schema.design.subjects[subject.index()].states;
        for (at, part) in opened.document.texts.iter().enumerate() {
            let text = row["truth"][&states[part.state.index()].name][&part.name].as_str();
            let marked = text.map_or(Ok(None), |text| snapshot.marked(words, at, text))?;
            if let Some(marked) = marked {
                found.insert(part.name.clone(), marked.into());
            }
        }
        Ok(Value::Object(found))
    }
}

/// What is asked, beside the page.
struct Asked<'a> {
    words: &'a str,
    group: &'a [u8],
    facets: &'a [usize],
}

impl Asked<'_> {
    /// What a place in the order depends on: other words have another order, and so has whoever does not see
    /// everything.
    fn basis(&self, whole: bool) -> Vec<u8> {
        let mut basis = self.group.to_vec();
        basis.extend_from_slice(&[0xff, u8::from(whole)]);
        basis.extend_from_slice(self.words.as_bytes());
        basis
    }
}

/// Why there are no hits.
enum Missed {
    Call(CallError),
    Text(TextTrouble),
}

impl From<CallError> for Missed {
    fn from(error: CallError) -> Missed {
        Missed::Call(error)
    }
}

impl From<TextTrouble> for Missed {
    fn from(trouble: TextTrouble) -> Missed {
        Missed::Text(trouble)
    }
}

fn named(opened: &Opened, facets: &[usize], counts: Vec<Vec<(String, u64)>>) -> Map<String, Value> {
    let values = |counts: Vec<(String, u64)>| {
        let each =
            counts.into_iter().map(|(value, count)| json!({ "value": value, "count": count }));
        Value::Array(each.collect())
    };
    let of = facets.iter().zip(counts);
    of.map(|(at, counts)| (opened.document.facets[*at].name.clone(), values(counts))).collect()
}
