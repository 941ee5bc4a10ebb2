//! What a check reports.

use std::fmt;

/// One violation: where, what, and what to do instead.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    pub path: String,
    /// The line from one; zero when the problem is the file as a whole.
    pub line: usize,
    pub message: String,
    pub help: Option<String>,
}

impl Problem {
    pub fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into(), help: None }
    }

    pub fn in_file(path: &str, message: impl Into<String>) -> Self {
        Self::at(path, 0, message)
    }

    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message)?,
            line => write!(f, "{}:{line}: {}", self.path, self.message)?,
        }
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// `path:line` of each problem, which is what most tests of a check compare.
#[cfg(test)]
pub fn places(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|p| format!("{}:{}", p.path, p.line)).collect()
}

#[cfg(test)]
mod tests {
    use super::Problem;

    #[test]
    fn a_problem_reads_as_place_message_and_help() {
        let problem = Problem::at("a.rs", 3, "a tab").help("use spaces");
        assert_eq!(problem.to_string(), "a.rs:3: a tab\n  help: use spaces");
        assert_eq!(Problem::in_file("a.rs", "too long").to_string(), "a.rs: too long");
    }
}
