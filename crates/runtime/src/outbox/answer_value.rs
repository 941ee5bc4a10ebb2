//! What the handler of an answer is given.

use design::model::{Operation, OperationKind};
use engine::{AnswerKind, NULL, Word};
use layout::Pool;
use serde_json::Value;

use crate::core::Schema;
use crate::values;

/// Said of an answer that no handler can take.
pub const MISREAD: &str = "the answer is not of the type, or not in the range, that `on ok` takes";

/// The whole answer, or its field of the name that the handler gives it. None: it is of another
/// type, so nothing is known of what the other side decided.
pub fn bound(
    schema: &Schema,
    operation: &Operation,
    kind: AnswerKind,
    answer: &Value,
    pool: &mut Pool,
) -> Option<Word> {
    let OperationKind::Effect(effect) = &operation.kind else { return Some(NULL) };
    let handler = match kind {
        AnswerKind::Ok => &effect.on_ok,
        AnswerKind::Refused => &effect.on_refused,
        AnswerKind::Unknown => &effect.on_unknown,
    };
    let Some(local) = handler.param else { return Some(NULL) };
    let bound = &operation.locals[local.index()];
    for value in [Some(answer), answer.get(&bound.name)].into_iter().flatten() {
        let mut words = Vec::new();
        if values::read(&schema.design, &bound.ty, value, pool, &mut words).is_ok()
            && let Some(word) = words.first().copied()
            && handler.range.is_none_or(|range| range.contains(word))
        {
            return Some(word);
        }
    }
    bound.ty.is_optional().then_some(NULL)
}
