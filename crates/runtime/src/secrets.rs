//! Secrets that designs keep: what is stored of them, and how one is recognised.
//!
//! A secret that a caller gives is hashed under a key before anything else is done with the call: the engine,
//! the store, the feed and whatever is kept for a retry see the hash. It is salted anew each time, so a hash
//! tells nothing of another. A record that a call reads is held against what the call was given: where a
//! stored hash is that of a given secret, it gets the handle of that one, so that the engine compares handles
//! and knows nothing of keys. If the record is written, it holds the new hash: under the newest key.

use std::fmt;

use design::model::visit::{bodies, each, each_statement, statement_exprs};
use design::model::{AttrId, Design, Expr, ExprKind, Operation, OperationId, StateKind, SubjectId};
use engine::{NULL, Program, Word};
use layout::Pool;
use store::Surroundings;

use crate::core::{ReadError, Schema};

/// Drawn anew for every hash.
pub const SALT_BYTES: usize = 16;
/// The longest secret, in bytes.
pub const MAX_SECRET: usize = 1_024;

/// The keys under which secrets are hashed. Whoever has them can find out a short secret by trying.
pub trait Secrets: fmt::Debug + Send + Sync {
    /// What is stored of a secret, under the newest key.
    fn hash(&self, salt: [u8; SALT_BYTES], plain: &[u8]) -> Result<Vec<u8>, SecretTrouble>;

    /// Is this what is stored of the secret? Compares in constant time.
    fn matches(&self, stored: &[u8], plain: &[u8]) -> Result<bool, SecretTrouble>;

    /// Tells whether two messages are one, to whoever has the key: under each key, the newest first.
    fn fingerprints(&self, message: &[u8]) -> Result<Vec<[u8; 16]>, SecretTrouble>;
}

/// Why a secret can be neither stored nor compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SecretTrouble {
    /// the runtime was opened without any
    NoKeys,
    /// it was stored under a key that is not here
    UnknownKey(String),
    /// the keys cannot be read now
    Unavailable(String),
    /// it is not of the form in which secrets are stored
    Damaged,
}

impl fmt::Display for SecretTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretTrouble::NoKeys => write!(f, "there are no keys to keep secrets with"),
            SecretTrouble::UnknownKey(id) => {
                write!(f, "a secret was stored under the key `{id}`, which is not here")
            }
            SecretTrouble::Unavailable(why) => write!(f, "the keys cannot be read: {why}"),
            SecretTrouble::Damaged => write!(f, "a stored secret cannot be read"),
        }
    }
}

/// Where secrets stand in the records of a design, and who compares them.
#[derive(Debug)]
pub struct SecretPlaces {
    /// by subject: each with where its word stands
    fields: Vec<Vec<(AttrId, usize)>>,
    /// by operation
    compared: Vec<Vec<(SubjectId, AttrId)>>,
}

impl SecretPlaces {
    pub fn of(design: &Design, program: &Program) -> SecretPlaces {
        let fields = design.subjects.iter().enumerate().map(|(at, subject)| {
            let layout = program.layout(SubjectId::of(at));
            let secret = subject.attributes.iter().enumerate().filter(|(_, attribute)| {
                let state = &subject.states[attribute.state.index()];
                attribute.ty.is_secret() && state.kind == StateKind::Truth
            });
            let place = |attr: AttrId| Some((attr, layout.attribute(attr)?.offset as usize));
            secret.filter_map(|(at, _)| place(AttrId::of(at))).collect()
        });
        SecretPlaces {
            fields: fields.collect(),
            compared: design.operations.iter().map(compared).collect(),
        }
    }

    /// Does whoever calls it learn whether a secret is right?
    pub fn compares(&self, operation: OperationId) -> bool {
        self.compared.get(operation.index()).is_some_and(|compared| !compared.is_empty())
    }
}

/// The secrets that an operation compares.
fn compared(operation: &Operation) -> Vec<(SubjectId, AttrId)> {
    let mut found = Vec::new();
    let mut look = |value: &Expr| {
        each(value, &mut |part| {
            let ExprKind::Compare { left, right, .. } = &part.kind else { return };
            for side in [left, right].into_iter().filter(|side| side.ty.is_secret()) {
                if let ExprKind::Attr { base, attr } = &side.kind
                    && let Some(subject) = base.ty.subject()
                {
                    found.push((subject, *attr));
                }
            }
        });
    };
    operation.guard.iter().for_each(|clause| look(&clause.body));
    for body in bodies(operation) {
        each_statement(body, &mut |statement| statement_exprs(statement, &mut look));
    }
    found
}

/// What a caller gives, as it is stored from here on. The same secret given twice is one.
pub fn take_given(
    schema: &Schema,
    surroundings: &dyn Surroundings,
    plain: &[u8],
    pool: &mut Pool,
) -> Result<Word, SecretTrouble> {
    let same = |known: &[u8]| aws_lc_rs::constant_time::verify_slices_are_equal(known, plain);
    if let Some((handle, _)) = pool.given().iter().find(|(_, known)| same(known).is_ok()) {
        return Ok(handle);
    }
    let secrets = schema.secrets.as_ref().ok_or(SecretTrouble::NoKeys)?;
    let mut salt = [0; SALT_BYTES];
    surroundings.fill(&mut salt);
    let stored = secrets.hash(salt, plain)?;
    assert!(!contains(&stored, plain), "what is stored of a secret is not the secret");
    let handle = pool.text(&stored);
    pool.given_mut().add(handle, plain);
    Ok(handle)
}

/// A short secret may stand in a hash by chance.
fn contains(stored: &[u8], plain: &[u8]) -> bool {
    plain.len() >= 16 && stored.windows(plain.len()).any(|part| part == plain)
}

/// Gives secrets of a record that was just read the handles of those that the call was given. Each is held
/// against each, whatever has been found: the time it takes tells nothing.
pub fn recognise(
    schema: &Schema,
    subject: SubjectId,
    pool: &Pool,
    words: &mut [Word],
) -> Result<(), ReadError> {
    let fields = &schema.secret_places.fields[subject.index()];
    let given = pool.given();
    if fields.is_empty() || given.is_empty() {
        return Ok(());
    }
    let compared = given.operation.map(|id| &schema.secret_places.compared[id.index()]);
    for (attr, at) in fields {
        let mut known = words[*at];
        if known == NULL {
            continue;
        }
        let stored = pool.content(known);
        for (handle, plain) in given.iter() {
            let secrets = schema.secrets.as_ref().ok_or(SecretTrouble::NoKeys);
            match secrets.and_then(|secrets| secrets.matches(stored, plain)) {
                Ok(true) => known = handle,
                Ok(false) => {}
                // whoever only stores another one need not know the old one
                Err(trouble) if compared.is_some_and(|it| it.contains(&(subject, *attr))) => {
                    return Err(ReadError::Secret(Box::new(trouble)));
                }
                Err(_) => {}
            }
        }
        words[*at] = known;
    }
    Ok(())
}
