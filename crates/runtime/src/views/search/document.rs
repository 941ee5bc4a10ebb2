//! What a `search` view keeps of a record.

use design::model::{AttrId, StateId, SubjectId, Type, ViewForm};
use engine::Word;
use layout::{Pool, describe};
use serde_json::Value;

use super::seam::TextShape;
use crate::core::Schema;
use crate::values;

/// What is indexed in this way has this number; another way is another index.
const FORM: u32 = 1;
/// A longer value is no name of a kind of thing: hits are not counted by it.
const FACET_BYTES_MAX: usize = 64;

/// The attributes that a `search` view looks at.
#[derive(Debug)]
pub(super) struct Document {
    pub view: usize,
    subject: SubjectId,
    pub texts: Vec<Part>,
    /// what hits can be counted by
    pub facets: Vec<Part>,
}

#[derive(Debug)]
pub(super) struct Part {
    pub name: String,
    attr: AttrId,
    pub state: StateId,
}

impl Document {
    pub fn of(schema: &Schema, view: usize) -> Document {
        let design = &schema.design;
        let (subject, form) = (design.views[view].subject, &design.views[view].form);
        let ViewForm::Search { on } = form else { unreachable!("only searches have documents") };
        let declared = &design.subjects[subject.index()];
        let part = |attr: AttrId| {
            let attribute = &declared.attributes[attr.index()];
            Part { name: attribute.name.clone(), attr, state: attribute.state }
        };
        let mut facets: Vec<Part> = Vec::new();
        for (at, attribute) in declared.attributes.iter().enumerate() {
            let counted =
                matches!(attribute.ty.required(), Type::Text | Type::Enum(_) | Type::Bool);
            // what entries of a log say is not truth of the record
            let held = schema.program.layout(subject).attribute(AttrId::of(at)).is_some();
            let known = facets.iter().any(|facet| facet.name == attribute.name);
            if counted && held && !known {
                facets.push(part(AttrId::of(at)));
            }
        }
        Document { view, subject, texts: on.iter().map(|attr| part(*attr)).collect(), facets }
    }

    pub fn shape(&self, schema: &Schema) -> TextShape {
        let view = &schema.design.views[self.view];
        let names = |parts: &[Part]| parts.iter().map(|part| part.name.clone()).collect();
        let mut said = serde_json::to_value(view).expect("a view is plain data");
        without_spans(&mut said);
        let number = schema.number.0;
        let described = format!("{FORM}/{number}/{}/{said}", describe(&schema.design));
        TextShape {
            name: format!("{}.{}", schema.design.name, view.name),
            mark: blake3::hash(described.as_bytes()).to_hex()[..16].to_string(),
            texts: names(&self.texts),
            facets: names(&self.facets),
        }
    }

    /// The searched texts of a record, and what it is counted by.
    pub fn parts(
        &self,
        schema: &Schema,
        words: &[Word],
        pool: &Pool,
    ) -> (Vec<Option<String>>, Vec<Option<String>>) {
        let layout = schema.program.layout(self.subject);
        let attributes = &schema.design.subjects[self.subject.index()].attributes;
        let value = |part: &Part| {
            let words = &words[layout.attribute(part.attr)?.range()];
            match values::write(&schema.design, &attributes[part.attr.index()].ty, words, pool) {
                Value::String(text) => Some(text),
                Value::Bool(it) => Some(it.to_string()),
                _ => None,
            }
        };
        let short = |text: &String| text.len() <= FACET_BYTES_MAX;
        let texts = self.texts.iter().map(value).collect();
        (texts, self.facets.iter().map(|part| value(part).filter(short)).collect())
    }
}

/// Where something is written in the text of a design makes no difference to what it means.
fn without_spans(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| name != "span");
            fields.values_mut().for_each(without_spans);
        }
        Value::Array(items) => items.iter_mut().for_each(without_spans),
        _ => {}
    }
}
