//! Back from the flat text to where things were written.

use syntax::{Diagnostic, FileId, Span};

use super::{Flat, Used};

/// Where the pieces of a flat text come from.
#[derive(Clone, Debug)]
pub(crate) struct Origins {
    /// the number of the flat text among the sources
    pub file: FileId,
    pub flat: Flat,
}

impl Origins {
    pub fn of(&self, span: Span) -> Span {
        if span.file == self.file { self.flat.origin(span) } else { span }
    }

    /// A message in the places where things were written. One about what is used also shows the `use`.
    pub fn told(&self, mut problem: Diagnostic, used: &[Used]) -> Diagnostic {
        problem.primary.span = self.of(problem.primary.span);
        problem.secondary.iter_mut().for_each(|label| label.span = self.of(label.span));
        let inside = |file: FileId| used.iter().find(|held| held.files.contains(&file.0));
        let elsewhere = problem.secondary.iter().any(|label| inside(label.span.file).is_none());
        if let Some(held) = inside(problem.primary.span.file)
            && !elsewhere
        {
            problem = problem.also(held.span, "used here");
        }
        let spans = problem.secondary.iter().map(|label| label.span);
        let taken = std::iter::once(problem.primary.span).chain(spans);
        let mut mends: Vec<String> = Vec::new();
        if problem.code == "E0202" {
            for held in taken.filter_map(|span| inside(span.file)) {
                if let Some(line) = mended(&problem, held)
                    && !mends.contains(&line)
                {
                    mends.push(line);
                }
            }
        }
        if !mends.is_empty() {
            problem.help = mends;
        }
        problem
    }
}

/// The line that keeps a used name apart from another one, or makes them one.
fn mended(problem: &Diagnostic, used: &Used) -> Option<String> {
    let mut words = problem.message.split('`');
    let what = words.next()?.trim().strip_prefix("the ")?;
    let name = words.next()?;
    let block = format!("`use {} as {}`", used.archetype, used.noun);
    let other = if name.starts_with(|first: char| first.is_uppercase()) {
        format!("{}{name}", used.noun)
    } else {
        format!("{name}_{}", used.scope)
    };
    match what {
        "subject" => Some(format!(
            "write `subject {name} is {name}` in the block of {block} if they are one, or \
             `{name} as {other}` if they are not"
        )),
        "state" | "operation" | "view" | "event" | "define" | "blob" | "memory" => {
            Some(format!("write `{name} as {other}` in the block of {block}"))
        }
        _ => None,
    }
}
