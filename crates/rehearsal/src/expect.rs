//! Conditions of a test, judged as goals are: on the world that the feed leads to.

use design::model::{
    Design, Expectation, Expr, ExprKind, Goal, Invariant, LocalId, Test, Type, visit,
};
use runtime::{Request, Walk};
use serde_json::{Map, Value as Json};

use crate::value::expression;

/// What happened, in the order in which it did.
pub enum Happened {
    /// an entry of the feed; whether whoever called was told
    Entry(Vec<u8>, bool),
    /// an answer of a read, or what somebody remembers that no feed tells
    Heard(Box<Request>, Map<String, Json>),
    Forgot(String),
    /// the world outside has done what it knows by this key
    Did(String),
}

/// A walk of a design, or of one whose steps rest on secrets.
pub fn walk(design: Design) -> Result<(Walk, bool), String> {
    let secret = design.operations.iter().any(design::model::Operation::has_secrets);
    let walk = if secret { Walk::trusting(design)? } else { Walk::new(design)? };
    Ok((walk, secret))
}

pub fn take(walk: &mut Walk, happened: &Happened) -> Result<(), String> {
    match happened {
        Happened::Entry(entry, answered) => {
            walk.take(entry, *answered).map_err(|departure| departure.to_string())?;
        }
        Happened::Heard(request, memory) => {
            walk.heard(request, memory)
                .map_err(|bad| format!("{}: {}", bad.pointer, bad.message))?;
        }
        Happened::Forgot(principal) => walk.forgot(principal),
        Happened::Did(key) => walk.outside_did(key),
    }
    Ok(())
}

/// Does it hold now? The error says why that cannot be told.
pub fn holds(
    design: &Design,
    test: &Test,
    expected: &Expectation,
    names: &[Option<Json>],
    happened: &[Happened],
    now: i64,
) -> Result<bool, String> {
    let mut asked = design.clone();
    let at = asked.invariants.len() as u32;
    asked.invariants.push(Invariant {
        name: "what is expected".into(),
        body: closed(design, test, expected, names),
        locals: expected.locals.clone(),
        uses_old: false,
        family: None,
        span: expected.body.span,
    });
    let (mut walk, _) = walk(asked)?;
    walk.watch_only(|goal| goal == Goal::Invariant(at));
    let unwatched = walk.unwatched().iter().find(|goal| goal.goal == "what is expected");
    if let Some(unwatched) = unwatched {
        return Err(unwatched.why.to_string());
    }
    for one in happened {
        take(&mut walk, one)?;
    }
    walk.now(now);
    match &walk.broken(true)[..] {
        [] => Ok(true),
        [first, ..] => match first.trouble {
            Some(trouble) => Err(format!("it cannot be evaluated: {trouble}")),
            None => Ok(false),
        },
    }
}

/// The condition with a value for each name.
fn closed(design: &Design, test: &Test, expected: &Expectation, names: &[Option<Json>]) -> Expr {
    let mut body = expected.body.clone();
    for at in (0..expected.known as usize).rev() {
        let value = names[at].as_ref().unwrap_or(&Json::Null);
        let value = expression(design, &test.names[at].ty, value);
        let (span, local) = (body.span, LocalId::of(at));
        let kind = ExprKind::Let { local, value: Box::new(value), body: Box::new(body) };
        body = Expr { kind, ty: Type::Bool, span };
    }
    body
}

/// The names that a condition mentions.
pub fn mentioned(expected: &Expectation) -> Vec<usize> {
    let mut found = Vec::new();
    visit::each(&expected.body, &mut |part| {
        if let ExprKind::Local(id) = part.kind
            && id.index() < expected.known as usize
            && !found.contains(&id.index())
        {
            found.push(id.index());
        }
    });
    found
}
