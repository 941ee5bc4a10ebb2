//! Content: who may bring it and take it, and how much of it in an hour.

use std::sync::{Mutex, PoisonError};

use design::model::{Design, Operation, Type};
use identity::Act;
use rustc_hash::FxHashMap;
use serde_json::json;

use crate::access::Caller;
use crate::gateway::Gateway;
use crate::kinds;
use crate::problem::{Hint, Problem};
use crate::service::Service;

const HOUR_S: i64 = 3_600;

/// How many bytes each principal has stored in this hour.
#[derive(Default)]
pub struct Uploads(Mutex<Hour>);

#[derive(Default)]
struct Hour {
    /// since 1970
    number: i64,
    bytes: FxHashMap<String, u64>,
}

impl Uploads {
    /// Counts them, or says after how many seconds there is room again.
    fn count(&self, principal: &str, bytes: u64, most: u64, now_s: i64) -> Result<(), u32> {
        let mut hour = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = now_s.div_euclid(HOUR_S);
        if hour.number != number {
            *hour = Hour { number, bytes: FxHashMap::default() };
        }
        let before = hour.bytes.get(principal).copied().unwrap_or(0);
        let after = before.saturating_add(bytes);
        if after > most {
            let left = HOUR_S - now_s.rem_euclid(HOUR_S);
            return Err(u32::try_from(left).unwrap_or(1));
        }
        hour.bytes.insert(principal.to_string(), after);
        Ok(())
    }

    /// They were not stored after all. In another hour they count no more anyway.
    fn give_back(&self, principal: &str, bytes: u64) {
        let mut hour = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counted) = hour.bytes.get_mut(principal) {
            *counted = counted.saturating_sub(bytes);
        }
    }
}

/// The bytes of one upload, counted as they come; given back unless they are stored.
pub struct Counted<'a> {
    gateway: &'a Gateway,
    caller: &'a Caller,
    bytes: u64,
}

impl Counted<'_> {
    /// Counts so many more, or says when there is room for them.
    pub fn more(&mut self, bytes: usize, now_s: i64) -> Result<(), Problem> {
        let (most, bytes) = (self.gateway.limits().upload_bytes_hour_max, bytes as u64);
        let counted = self.gateway.uploads.count(&self.caller.principal, bytes, most, now_s);
        counted.map_err(|seconds| {
            let detail = format!(
                "a caller stores at most {most} bytes of content in an hour; nothing was stored"
            );
            Problem::new(&kinds::QUOTA, detail).hint(Hint::AgainAfter(seconds))
        })?;
        self.bytes += bytes;
        Ok(())
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// They are stored.
    pub fn stay(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.gateway.uploads.give_back(&self.caller.principal, self.bytes);
        }
    }
}

impl Gateway {
    /// Refuses a caller that has no step to mention content in.
    pub fn may_bring(&self, service: &Service, caller: &Caller) -> Result<(), Problem> {
        let design = service.design();
        let brings =
            |operation: &&Operation| operation.params.iter().any(|it| mentions(design, &it.ty));
        let mut actors: Vec<&str> = Vec::new();
        for operation in design.operations.iter().filter(brings) {
            let actor = design.actors[operation.actor.index()].name.as_str();
            if service.is_callable(operation) && !actors.contains(&actor) {
                actors.push(actor);
            }
        }
        self.with_one_of(service, caller, &actors, "content is brought by")
    }

    /// Refuses a caller that has no role in the design. Which content there is, it learns from truth
    /// that it may see.
    pub fn may_take(&self, service: &Service, caller: &Caller) -> Result<(), Problem> {
        let actors: Vec<&str> = service.design().actors.iter().map(|it| it.name.as_str()).collect();
        self.with_one_of(service, caller, &actors, "content is for")
    }

    fn with_one_of(
        &self,
        service: &Service,
        caller: &Caller,
        actors: &[&str],
        what: &str,
    ) -> Result<(), Problem> {
        if caller.is_operator() || actors.iter().any(|actor| caller.may_act_as(service, actor)) {
            return Ok(());
        }
        let of = json!({ "design": service.name, "what": "content" });
        self.auditor.refused(Act::Forbidden, &caller.principal, of);
        let whom = match actors {
            [] => "operators alone".to_string(),
            _ => format!("callers with the role {}", actors.join(" or ")),
        };
        Err(Problem::new(&kinds::WRONG_ROLE, format!("{what} {whom}")))
    }

    /// For content that begins to come.
    pub fn count_upload<'a>(&'a self, caller: &'a Caller) -> Counted<'a> {
        Counted { gateway: self, caller, bytes: 0 }
    }
}

/// Is it the hash of content, does it hold one, or does it refer to a record whose key is one?
fn mentions(design: &Design, ty: &Type) -> bool {
    match ty {
        Type::Digest(_) => true,
        Type::Optional(inner) => mentions(design, inner),
        Type::List { of, .. } => mentions(design, of),
        // a key that names records of its own subject does not compile
        Type::Ref(subject) => {
            design.subjects[subject.index()].keys.iter().any(|part| mentions(design, &part.ty))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever names a record by its hash brings its content.
    #[test]
    fn a_record_whose_key_is_a_hash_mentions_content() {
        let text = "design Files
actor client
blob Content
subject Blob(hash: Content) { truth Held { held: bool = false } }
subject Copy(blob: Blob, node: text) { truth Kept { kept: bool = false } }
subject Name(name: text) { truth Points { at: Blob? } }
step client[keep(copy: new Copy)] { Kept.kept := true }
step client[rename(name: new Name)] { Points.at := null }
";
        let compiled = design::compile("files", text, &design::NoCatalog);
        let design = compiled.design.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
        let mentioned = |at: usize| mentions(&design, &design.operations[at].params[0].ty);
        assert!(mentioned(0));
        assert!(!mentioned(1));
    }

    #[test]
    fn a_caller_stores_so_much_in_an_hour_and_no_more() {
        let uploads = Uploads::default();
        let at = |seconds| 1_000 * HOUR_S + seconds;
        assert_eq!(uploads.count("ann", 60, 100, at(0)), Ok(()));
        assert_eq!(uploads.count("ann", 41, 100, at(600)), Err(3_000), "and nothing is counted");
        assert_eq!(uploads.count("ann", 40, 100, at(601)), Ok(()));
        assert_eq!(uploads.count("bob", 100, 100, at(602)), Ok(()), "each for itself");
        uploads.give_back("bob", 30);
        assert_eq!(uploads.count("bob", 31, 100, at(602)), Err(2_998));
        assert_eq!(uploads.count("bob", 30, 100, at(602)), Ok(()), "what broke off is not counted");
        assert_eq!(uploads.count("ann", 1, 100, at(HOUR_S - 1)), Err(1));
        assert_eq!(uploads.count("ann", 100, 100, at(HOUR_S)), Ok(()));
        assert_eq!(uploads.count("ann", u64::MAX, u64::MAX, at(HOUR_S)), Ok(()));
    }
}
