//! Everything that goes wrong between a caller and a service.

use std::borrow::Cow;

use design::model::Rate;
use runtime::{BadValue, CallError, SecretTrouble};
use serde_json::{Map, Value};

use crate::kinds::{self, Kind};
use crate::rates::Left;
use crate::service::Service;

/// A problem, with whatever a client may want to know of it.
#[derive(Debug)]
pub struct Problem {
    /// names it: a [`Kind`], or for a refusal design, operation and clause
    pub kind: Cow<'static, str>,
    pub title: Cow<'static, str>,
    pub detail: String,
    more: Box<More>,
}

#[derive(Debug, Default)]
struct More {
    members: Map<String, Value>,
    hints: Vec<Hint>,
}

/// What a client may do about a problem; a door that has no words for it leaves it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hint {
    /// come again after so many seconds
    AgainAfter(u32),
    /// who calls is not known, and presents a token
    Token { refused: bool },
    /// how the caller stands with its limit
    Rate(Left),
    /// this way of asking does not apply, but these do
    Instead(&'static str),
}

impl Problem {
    pub fn new(kind: &'static Kind, detail: impl Into<String>) -> Problem {
        let Kind { name, title } = kind;
        Problem::of_kind(Cow::Borrowed(*name), Cow::Borrowed(*title), detail)
    }

    fn of_kind(
        kind: Cow<'static, str>,
        title: Cow<'static, str>,
        detail: impl Into<String>,
    ) -> Problem {
        Problem { kind, title, detail: detail.into(), more: Box::default() }
    }

    /// Another member.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Problem {
        self.more.members.insert(name.into(), value.into());
        self
    }

    /// The further members.
    pub fn members(&self) -> &Map<String, Value> {
        &self.more.members
    }

    /// One of the further members.
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.more.members.get(name)
    }

    #[must_use]
    pub fn pointer(self, pointer: impl Into<String>) -> Problem {
        self.with("pointer", pointer.into())
    }

    #[must_use]
    pub fn hint(mut self, hint: Hint) -> Problem {
        self.more.hints.push(hint);
        self
    }

    pub fn hints(&self) -> &[Hint] {
        &self.more.hints
    }

    pub fn is(&self, kind: &Kind) -> bool {
        self.kind == kind.name
    }

    pub fn malformed(detail: impl Into<String>) -> Problem {
        Problem::new(&kinds::MALFORMED, detail)
    }

    pub fn unknown(detail: impl Into<String>) -> Problem {
        Problem::new(&kinds::UNKNOWN, detail)
    }

    /// A value that does not fit; the pointer leads into the body that was sent.
    pub fn misfit(bad: &BadValue) -> Problem {
        let pointer = bad.pointer.strip_prefix("/params").unwrap_or(&bad.pointer);
        let pointer = pointer.strip_prefix("/memory").unwrap_or(pointer);
        Problem::new(&kinds::WRONG_TYPE, bad.message.clone()).pointer(pointer)
    }

    pub fn too_large(what: &str, bytes_max: usize) -> Problem {
        Problem::new(&kinds::TOO_LARGE, format!("{what} has at most {bytes_max} bytes"))
    }

    pub fn overloaded() -> Problem {
        Problem::new(
            &kinds::OVERLOADED,
            "nothing was done; come again after the time in Retry-After",
        )
        .hint(Hint::AgainAfter(1))
    }

    /// The caller has called as often as the design lets it.
    pub fn too_often(left: Left) -> Problem {
        let Rate { count, per } = left.rate;
        let per = design::model::duration_text(per);
        let detail =
            format!("a caller calls this at most {count} times in {per}; nothing was done");
        let seconds = u32::try_from((left.again_ms + 999) / 1_000).unwrap_or(u32::MAX).max(1);
        Problem::new(&kinds::RATE, detail).hint(Hint::AgainAfter(seconds)).hint(Hint::Rate(left))
    }

    /// What the runtime says, for a client. What concerns the operator alone is not told.
    pub fn of_call(service: &Service, error: CallError) -> Problem {
        match error {
            CallError::Unknown(what) => Problem::unknown(what),
            CallError::Bad(bad) => Problem::misfit(&bad),
            CallError::Refused(refused) => {
                let kind = format!("{}/{}/{}", service.name, refused.operation, refused.clause);
                let title = format!("`{}` is refused by `{}`", refused.operation, refused.clause);
                let mut detail = match refused.why {
                    Some(why) => why,
                    None => format!("the guard `{}` does not hold now", refused.clause),
                };
                if !refused.prevents.is_empty() {
                    detail.push_str(&format!("; it prevents: {}", refused.prevents.join(", ")));
                }
                Problem::of_kind(kind.into(), title.into(), detail)
                    .with("guard", refused.clause)
                    .with("truth", refused.truth)
                    .with("legal", refused.legal)
                    .with("prevents", refused.prevents)
            }
            CallError::OtherPayload => Problem::new(
                &kinds::KEY_USED,
                "use a new key for a new request, and the old one to ask for the same again",
            ),
            CallError::KeyNeeded => Problem::new(
                &kinds::KEY_NEEDED,
                "send a header `Idempotency-Key` with a value of your choice, the same when you \
                 try again",
            ),
            CallError::Hidden(what) => Problem::new(&kinds::HIDDEN, what),
            CallError::Precondition => {
                Problem::new(&kinds::CHANGED, "read it again, and decide anew")
            }
            CallError::Store(error) => Problem::of_store(error),
            CallError::Replaced => Problem::new(&kinds::REPLACED, "nothing was done; come again")
                .hint(Hint::AgainAfter(1)),
            CallError::Skewed(skewed) => {
                Problem::new(&kinds::UNAVAILABLE, format!("{skewed}; nothing was done"))
                    .hint(Hint::AgainAfter(5))
            }
            CallError::Damaged(damaged) => {
                let design = &service.name;
                tracing::error!(%design, reason = %damaged, "a call needs what cannot be read");
                Problem::broken()
            }
            CallError::NotFetched => Problem::broken(),
            CallError::Secret(trouble) => Problem::of_secret(service, &trouble),
        }
    }

    /// Which key is missing is told: its name is no secret, and an operator must know it.
    fn of_secret(service: &Service, trouble: &SecretTrouble) -> Problem {
        let design = &service.name;
        tracing::error!(%design, reason = %trouble, "a call needs a secret that cannot be compared");
        let detail = match trouble {
            SecretTrouble::UnknownKey(_) => format!(
                "{trouble}; nothing was done. An operator puts the key back into the directory of \
                 keys, or a new secret is set"
            ),
            _ => "the keys of secrets cannot be used now; nothing was done".to_string(),
        };
        Problem::new(&kinds::SECRET_KEY, detail)
    }

    pub fn of_store(error: store::Error) -> Problem {
        match error {
            store::Error::Busy | store::Error::Contended { .. } => Problem::overloaded(),
            store::Error::TooLarge { bytes_max, .. } => Problem::too_large(
                "what a step writes",
                usize::try_from(bytes_max).unwrap_or(usize::MAX),
            ),
            store::Error::TooMany { operations_max, .. } => {
                let most = format!("a step reads and writes at most {operations_max} records here");
                Problem::new(&kinds::TOO_LARGE, most)
            }
            store::Error::BelowFloor(floor) => Problem::new(
                &kinds::FORGOTTEN,
                "read the truth anew, then follow from the revision in `floor`",
            )
            .with("floor", floor.to_string()),
            store::Error::Ahead(_) => Problem::malformed("this revision was never given out here"),
            store::Error::Full(_) | store::Error::Unavailable(_) => {
                Problem::new(&kinds::UNAVAILABLE, "nothing was done; come again later")
                    .hint(Hint::AgainAfter(5))
            }
            store::Error::Closed => Problem::stopping(),
            error => {
                tracing::error!(%error, "the store failed a call");
                Problem::broken()
            }
        }
    }

    pub fn stopping() -> Problem {
        Problem::new(&kinds::STOPPING, "nothing was done; come again in a moment")
            .hint(Hint::AgainAfter(1))
    }

    pub fn broken() -> Problem {
        Problem::new(
            &kinds::BROKEN,
            "it is not known whether this was done; read before trying again",
        )
    }
}
