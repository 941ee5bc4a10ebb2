//! What a store keeps of a design besides its truth: the design, its text, and what was found when
//! it was checked.

use design::model::Design;
use layout::{About, MetaKey};
use store::{Decision, Store, Transaction};

use super::numbers as registry;
use super::open_error::OpenError;
use crate::calls::CallError;
use crate::core::{self, Runtime, Settings};
use crate::replacement::without_places;

/// One design as a store holds it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Kept {
    /// none: it cannot be read by this version of the program
    pub design: Option<Design>,
    /// none: it was opened by a program that had no text
    pub text: Option<String>,
    /// with everything that it uses written out, as it was when it was stored; none: it uses nothing, or it was
    /// stored by a program that did not keep this
    pub flat: Option<String>,
    /// whatever [`Runtime::keep_verdict`] was given last, for any text
    pub verdict: Option<String>,
}

/// The design of this name that a store holds; none: it holds no such design.
pub fn kept(store: &dyn Store, name: &str, settings: &Settings) -> Result<Option<Kept>, OpenError> {
    let mut found = Ok(None);
    let mut look = |transaction: &mut dyn Transaction| {
        found = match registry::current(transaction, name) {
            Err(damaged) => Err(damaged.into()),
            Ok(None) => Ok(None),
            Ok(Some(number)) => {
                let read = |about: About| {
                    let bytes = transaction.get(&MetaKey { design: number, about }.to_bytes());
                    bytes.and_then(|(_, bytes)| String::from_utf8(bytes.to_vec()).ok())
                };
                let design =
                    read(About::Design).and_then(|text| design::from_bytes(text.as_bytes()).ok());
                let (text, flat) = (read(About::Text), read(About::Flat));
                Ok(Some(Kept { design, text, flat, verdict: read(About::Verdict) }))
            }
        };
        Decision::Abandon
    };
    settings.surroundings.block_on(core::transact(store, None, settings, &mut look))?;
    found
}

/// The names of the designs that a store holds.
pub fn designs_of(store: &dyn Store, settings: &Settings) -> Result<Vec<String>, OpenError> {
    let mut found = Ok(Vec::new());
    let mut look = |transaction: &mut dyn Transaction| {
        found = registry::names(transaction).map_err(OpenError::from);
        Decision::Abandon
    };
    settings.surroundings.block_on(core::transact(store, None, settings, &mut look))?;
    found
}

/// What a design is written like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Writing<'t> {
    pub text: &'t str,
    /// with everything that it uses written out, if it uses something
    pub flat: Option<&'t str>,
}

impl<'t> From<&'t str> for Writing<'t> {
    fn from(text: &'t str) -> Writing<'t> {
        Writing { text, flat: None }
    }
}

impl<'t> From<&'t String> for Writing<'t> {
    fn from(text: &'t String) -> Writing<'t> {
        Writing { text, flat: None }
    }
}

impl Runtime {
    /// Keeps what was found when this design was checked, in whatever form the caller reads it again.
    pub fn keep_verdict(&self, verdict: &str) -> Result<(), CallError> {
        if self.is_replaced() {
            return Err(CallError::Replaced);
        }
        let key = MetaKey { design: self.schema.number, about: About::Verdict }.to_bytes();
        let ticket = self.look(&mut |transaction| {
            transaction.put(&key, verdict.as_bytes());
            Decision::Commit
        })?;
        ticket.wait()?;
        Ok(())
    }
}

/// The same design, whatever its comments and its layout: it differs at most in where things stand
/// in the text, and in what it says of earlier versions. What cannot be compared is not the same.
pub fn alike(one: &Design, other: &Design) -> bool {
    let plain = |design: &Design| {
        let mut value = design::to_value(design);
        without_places(&mut value);
        value.as_object_mut()?.remove("earlier");
        Some(value)
    };
    plain(one).zip(plain(other)).is_some_and(|(one, other)| one == other)
}
