//! What the caller may do instead.

use design::model::OperationId;

use crate::program::operation::{Kind, MemoryRule, Op};
use crate::step::guard_filled;
use crate::{Command, NULL, Outcome, Program, Scratch, Truth, Word};

/// A step whose guard holds now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LegalStep {
    pub operation: OperationId,
    /// For each parameter, what was filled in; `None`: the guard does not look at it, the caller
    /// chooses.
    pub params: Vec<Option<Word>>,
}

/// So many ways to fill the parameters of one operation are tried.
const TRIES_MAX: usize = 64;

/// After a refusal: the steps of the same actor (and of those that continue it, or that it
/// continues) whose references can be filled from the records in `refused.reads()`, whose memory
/// is among that of the command, and whose guard holds now.
///
/// A parameter that is no reference is filled with what the command gave under the same name and
/// type, or with its default, or is left to the caller if the guard does not look at it.
pub fn legal_steps<T: Truth>(
    program: &Program,
    truth: &T,
    command: &Command<'_>,
    refused: &Scratch,
    scratch: &mut Scratch,
) -> Vec<LegalStep> {
    let Some(called) = program.operations.get(command.operation.index()) else {
        return Vec::new();
    };
    let mut legal = Vec::new();
    for (index, op) in program.operations.iter().enumerate() {
        if op.actor != called.actor || op.kind != Kind::Step {
            continue;
        }
        let operation = OperationId::of(index);
        for filled in fillings(op, called, command, refused) {
            let Some(memory) = memory_for(op, &filled, called, command) else { continue };
            let params = words_of(op, &filled);
            let asked = Command { operation, params: &params, memory: &memory, ..*command };
            if guard_filled(program, truth, &asked, scratch) == Outcome::Done {
                let params = filled.iter().map(Filled::shown).collect();
                legal.push(LegalStep { operation, params });
            }
        }
    }
    legal
}

/// What a parameter is filled with.
#[derive(Clone)]
enum Filled<'a> {
    Reference(Word),
    Words(&'a [Word]),
    /// left to the caller
    Free,
}

impl Filled<'_> {
    fn shown(&self) -> Option<Word> {
        match self {
            Filled::Reference(key) => Some(*key),
            Filled::Words([word]) => Some(*word),
            _ => None,
        }
    }
}

fn fillings<'a>(
    op: &'a Op,
    called: &Op,
    command: &Command<'a>,
    refused: &Scratch,
) -> Vec<Vec<Filled<'a>>> {
    let mut all: Vec<Vec<Filled<'a>>> = vec![Vec::new()];
    for rule in &op.param_rules {
        let choices: Vec<Filled<'a>> = match rule.subject {
            Some(_) if rule.new => match rule.in_guard {
                true => Vec::new(),
                false => vec![Filled::Free],
            },
            Some(subject) => refused
                .reads()
                .filter(|read| read.subject == subject)
                .map(|read| Filled::Reference(read.key))
                .collect(),
            None if !rule.in_guard => vec![Filled::Free],
            None => {
                let same = called
                    .param_rules
                    .iter()
                    .position(|other| other.name == rule.name && other.ty == rule.ty);
                let given = same.map(|index| &command.params[called.params.fields[index].range()]);
                let within = |words: &&[Word]| {
                    let first = words.first().copied().unwrap_or(NULL);
                    first == NULL || rule.range.is_none_or(|range| range.contains(first))
                };
                let filled = given.filter(within).or(rule.default.as_deref());
                filled.map(Filled::Words).into_iter().collect()
            }
        };
        let mut next = Vec::new();
        for filled in &all {
            for choice in &choices {
                if next.len() < TRIES_MAX {
                    let mut longer = filled.clone();
                    longer.push(choice.clone());
                    next.push(longer);
                }
            }
        }
        all = next;
    }
    all
}

fn words_of(op: &Op, filled: &[Filled<'_>]) -> Vec<Word> {
    let mut words = vec![0; op.params.width as usize];
    for ((filled, field), rule) in filled.iter().zip(&op.params.fields).zip(&op.param_rules) {
        match filled {
            Filled::Reference(key) => words[field.offset as usize] = *key,
            Filled::Words(given) => words[field.range()].copy_from_slice(given),
            // nothing to look up
            Filled::Free if rule.new => words[field.offset as usize] = NULL,
            Filled::Free => {}
        }
    }
    words
}

/// The memory that the command brought, as far as the guard may look at it.
fn memory_for(
    op: &Op,
    filled: &[Filled<'_>],
    called: &Op,
    command: &Command<'_>,
) -> Option<Vec<Word>> {
    op.memory
        .iter()
        .map(|rule| {
            if !rule.read {
                return Some(NULL);
            }
            let key = rule.of.and_then(|param| filled.get(param as usize)?.shown());
            let same = |other: &MemoryRule| {
                let its = other.of.and_then(|param| {
                    let field = called.params.fields.get(param as usize)?;
                    command.params.get(field.offset as usize).copied()
                });
                (other.actor, other.field, its) == (rule.actor, rule.field, key)
            };
            let index = called.memory.iter().position(same)?;
            command.memory.get(index).copied()
        })
        .collect()
}
