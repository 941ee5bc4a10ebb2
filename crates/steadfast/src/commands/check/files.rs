//! What a check leaves behind on disk, if asked.

use std::fs;
use std::path::Path;

use model_checker::render;

use super::outcome::Outcome;
use crate::output::Output;
use crate::problem::{Problem, reason};

pub fn write(file: &Path, text: &str) -> Result<(), Problem> {
    fs::write(file, text).map_err(|error| {
        Problem::new(format!("cannot write `{}`: {}", file.display(), reason(&error)))
    })
}

/// One script for each trace: `tickets-oversell.sh`.
pub fn write_replays(
    folder: &Path,
    outcomes: &[Outcome],
    output: &mut Output,
    quiet: bool,
) -> Result<(), Problem> {
    fs::create_dir_all(folder).map_err(|error| {
        Problem::new(format!("cannot make the folder `{}`: {}", folder.display(), reason(&error)))
    })?;
    let mut written: Vec<String> = Vec::new();
    for outcome in outcomes {
        let Some((design, report)) = outcome.report() else { continue };
        let name = outcome.name();
        for shown in render::traces(report) {
            let plain = format!("{}-{}", slug(&name), slug(shown.title));
            let same = written.iter().filter(|held| **held == plain).count();
            written.push(plain.clone());
            let file = match same {
                0 => format!("{plain}.sh"),
                n => format!("{plain}-{}.sh", n + 1),
            };
            let file = folder.join(file);
            write(&file, &render::replay(&name.to_lowercase(), design, &shown))?;
            make_executable(&file);
            if !quiet {
                output.print(&format!("wrote {}\n", file.display()));
            }
        }
    }
    if written.is_empty() {
        output.tell("no trace to replay\n");
    }
    Ok(())
}

/// Letters and digits, with `-` between words.
fn slug(text: &str) -> String {
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join("-").chars().take(80).collect()
}

/// A script that cannot be marked so can still be run with `sh`.
fn make_executable(file: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let _ = fs::set_permissions(file, fs::Permissions::from_mode(0o755));
    }
    #[cfg(not(unix))]
    let _ = file;
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn file_names_hold_nothing_odd() {
        assert_eq!(slug("confirm-after-expiry race"), "confirm-after-expiry-race");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("ein Überlauf!"), "ein-überlauf");
    }
}
