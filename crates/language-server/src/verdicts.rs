//! What is known of the goals of a design. Whoever starts the server finds it out.

use design::model::Design;

/// Gives verdicts. Called from other threads than the one that answers the editor.
pub trait Verdicts: Send + Sync {
    /// What an earlier check found about exactly this text; quick, since an editor waits for it.
    fn kept(&self, text: &str, design: &Design) -> Option<Judgement>;

    /// Checks now, as long as it takes. `progress` is told now and then how far it came, in a few words; when it
    /// answers false, nobody needs the verdict any more, and there may be none.
    fn check(
        &self,
        text: &str,
        design: &Design,
        progress: &mut dyn FnMut(String) -> bool,
    ) -> Option<Judgement>;
}

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Judgement {
    /// of the whole design, in a few words: `proved`
    pub whole: String,
    /// under the names that they have in the design: `one_winner`, `seat.one_winner`
    pub goals: Vec<Judged>,
    /// by their titles
    pub failures: Vec<Judged>,
}

/// The verdict on one goal or one failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judged {
    pub name: String,
    /// in a few words: `proved`, `violated in 4 steps`
    pub said: String,
    /// is it what the author wants?
    pub good: bool,
    /// the history that shows it, told line by line
    pub history: Option<String>,
}

impl Judgement {
    pub fn goal(&self, name: &str) -> Option<&Judged> {
        self.goals.iter().find(|judged| judged.name == name)
    }

    pub fn failure(&self, title: &str) -> Option<&Judged> {
        // one failure may have several proofs: the first that is not as it should be counts
        let mut all = self.failures.iter().filter(|judged| judged.name == title);
        let first = all.clone().next();
        all.find(|judged| !judged.good).or(first)
    }
}

/// Knows nothing and checks nothing.
pub struct NoVerdicts;

impl Verdicts for NoVerdicts {
    fn kept(&self, _text: &str, _design: &Design) -> Option<Judgement> {
        None
    }

    fn check(
        &self,
        _text: &str,
        _design: &Design,
        _progress: &mut dyn FnMut(String) -> bool,
    ) -> Option<Judgement> {
        None
    }
}
