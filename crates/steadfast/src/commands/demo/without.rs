//! Which clause is taken away, and the design without it.

use design::model::{ClauseRef, Design, OperationId, Protection};

use crate::problem::Problem;

/// A clause that was taken out of a design.
pub struct Without {
    /// `hold.free`
    pub clause: String,
    /// the failures that it prevents, by their titles
    pub prevents: Vec<String>,
}

/// The design without this clause, as if its author had left it out.
pub fn weakened(
    design: &Design,
    word: &str,
    damaging: &[&str],
) -> Result<(Design, Without), Problem> {
    let Some(protection) = found(design, word) else {
        return Err(unknown(design, word, damaging));
    };
    let weak = design
        .without(std::slice::from_ref(&protection))
        .map_err(|why| Problem::new(format!("`{word}` cannot be taken away: {why}")))?;
    let prevents = design.prevented_by(&protection);
    Ok((weak, Without { clause: word.into(), prevents }))
}

/// The clause that is meant; also one that every step has, and that no design is without.
fn found(design: &Design, word: &str) -> Option<Protection> {
    if let Some((_, protection)) = design.clauses().into_iter().find(|(name, _)| name == word) {
        return Some(protection);
    }
    let (step, clause) = word.split_once('.')?;
    let clause = match clause {
        "exists" => ClauseRef::Exists,
        "fresh" => ClauseRef::Fresh,
        _ => return None,
    };
    let at = design.operations.iter().position(|operation| operation.name == step)?;
    Some(Protection::Clause { operation: OperationId::of(at), clause })
}

fn unknown(design: &Design, word: &str, damaging: &[&str]) -> Problem {
    let all: Vec<String> = design.clauses().into_iter().map(|(name, _)| name).collect();
    let quoted = |names: Vec<&str>| {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        quoted.join(", ")
    };
    let others: Vec<&str> =
        all.iter().map(String::as_str).filter(|name| !damaging.contains(name)).collect();
    let message = match word.contains('.') {
        true => format!("`{}` has no clause `{word}` that could be taken away", design.name),
        false => format!("`{word}` is no clause: write STEP.CLAUSE"),
    };
    Problem::new(message)
        .help_if(design::did_you_mean(word, all.iter().map(String::as_str)))
        .help(format!("the damage is seen without {}", quoted(damaging.to_vec())))
        .help(format!(
            "these can be taken away as well, and prevent what this demo does not count: {}",
            quoted(others)
        ))
}
