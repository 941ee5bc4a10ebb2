//! What may be served, by its verdict.

use clap::ValueEnum;
use model_checker::Word;

use crate::exit::Exit;

/// The least that the verdict on a text must say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Require {
    /// nothing was cut
    Proved,
    /// nothing was found within the bounds that the verdict names
    Holds,
}

/// What a server was told about the designs it serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rule {
    pub require: Option<Require>,
    /// also what is violated
    pub unproved: bool,
}

/// Why a text is not served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unmet {
    /// `its verdict is …`
    pub why: String,
    pub exit: Exit,
}

impl Rule {
    /// `word` is none where a text was not checked.
    pub fn allows(self, word: Option<&Word>) -> Result<(), Unmet> {
        let enough = match (self.require, word) {
            (Some(Require::Proved), word) => word == Some(&Word::Proved),
            (Some(Require::Holds), word) => {
                matches!(word, Some(Word::Proved | Word::Holds { .. }))
            }
            (None, Some(Word::Violated)) => self.unproved,
            (None, _) => true,
        };
        if enough {
            return Ok(());
        }
        let is = match word {
            Some(word) => format!("its verdict is `{word}`"),
            None => "it was not checked".to_string(),
        };
        let wanted = match self.require {
            Some(Require::Proved) => "; only what is proved is served here",
            Some(Require::Holds) => "; only what is proved or holds within bounds is served here",
            None => "",
        };
        let exit = if word == Some(&Word::Violated) { Exit::No } else { Exit::Unknown };
        Err(Unmet { why: format!("{is}{wanted}"), exit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_lets_through_what_it_names() {
        let holds = Word::Holds { bounds: vec!["log: 3".into()] };
        let unknown = Word::NotKnown { why: "budget".into() };
        let words =
            [Some(&Word::Proved), Some(&holds), None, Some(&unknown), Some(&Word::Violated)];
        let let_through = |rule: Rule| words.map(|word| rule.allows(word).is_ok());
        let plain = Rule::default();
        let (proved, held) = (Some(Require::Proved), Some(Require::Holds));
        assert_eq!(let_through(plain), [true, true, true, true, false]);
        assert_eq!(let_through(Rule { unproved: true, ..plain }), [true; 5]);
        let strict = Rule { require: proved, ..plain };
        assert_eq!(let_through(strict), [true, false, false, false, false]);
        assert_eq!(let_through(Rule { unproved: true, ..strict })[1..], [false; 4]);
        let lax = Rule { require: held, ..plain };
        assert_eq!(let_through(lax), [true, true, false, false, false]);
        let exits = words.map(|word| strict.allows(word).err().map(|unmet| unmet.exit.code()));
        assert_eq!(exits, [None, Some(3), Some(3), Some(3), Some(1)]);
    }
}
