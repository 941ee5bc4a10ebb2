//! A design in the catalog is found by its file name, so the file is named for what it holds.

use std::collections::BTreeMap;

use super::problem::Problem;
use crate::repo::File;

/// The folder of each family of archetypes, by the first letter of the identifier.
const FAMILIES: &[(char, &str)] = &[('I', "designs/infra/"), ('A', "designs/product/")];

pub fn check(files: &[File]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut by_name: BTreeMap<String, &str> = BTreeMap::new();
    for file in files {
        let Some(stem) = stem(&file.path) else { continue };
        let legal =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        let is_id = matches!(header(&file.text), Some(Header::Archetype(id, _)) if id == stem);
        if !is_id && !stem.chars().all(legal) {
            let message = "a design's file name is its archetype's identifier, or lowercase \
                letters, digits, `-` and `_`";
            problems.push(Problem::in_file(&file.path, message));
        }
        problems.extend(check_header(file, stem));
        if let Some(first) = by_name.insert(plain(stem), &file.path) {
            let message = format!("has the same name as `{first}`");
            problems.push(Problem::in_file(&file.path, message));
        }
    }
    problems
}

fn check_header(file: &File, stem: &str) -> Option<Problem> {
    let Some(header) = header(&file.text) else {
        let message = "declares neither a `design` nor an `archetype`";
        return Some(Problem::in_file(&file.path, message));
    };
    let names: Vec<String> = match header {
        Header::Design(name) => vec![plain(name)],
        Header::Archetype(id, name) => {
            let folder = FAMILIES.iter().find(|(letter, _)| id.starts_with(*letter));
            if let Some((_, folder)) = folder.filter(|(_, folder)| !file.path.starts_with(folder)) {
                let message = format!("the archetype `{id}` belongs in `{folder}`");
                return Some(Problem::in_file(&file.path, message));
            }
            vec![plain(id), plain(name), plain(&format!("{id}{name}"))]
        }
    };
    (!names.contains(&plain(stem))).then(|| {
        let message = format!("holds `{}`, which its name does not say", names.join("` or `"));
        Problem::in_file(&file.path, message)
    })
}

enum Header<'a> {
    Design(&'a str),
    Archetype(&'a str, &'a str),
}

/// What the file says that it holds.
fn header(text: &str) -> Option<Header<'_>> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        match words.next()? {
            "design" => Some(Header::Design(words.next()?)),
            "archetype" => Some(Header::Archetype(words.next()?, words.next()?)),
            _ => None,
        }
    })
}

fn stem(path: &str) -> Option<&str> {
    let name = path.strip_prefix("designs/")?.rsplit('/').next()?;
    name.strip_suffix(".design")
}

/// A name without the marks that tell its words apart.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::file;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<File> = files.iter().map(|(path, text)| file(path, text)).collect();
        check(&files).into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn files_named_for_what_they_hold_pass() {
        let files = [
            ("designs/systems/job_queue.design", "// jobs\ndesign JobQueue \"Jobs\"\n"),
            ("designs/infra/I02.design", "archetype I02 Claim \"Claim\"\n"),
            ("designs/infra/i03-saga.design", "archetype I03 Saga \"Saga\"\n"),
            ("crates/x/tests/Odd.design", "nothing"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn a_misnamed_file_is_caught() {
        let files = [("designs/product/seats.design", "design Tickets \"Seats\"\n")];
        assert_eq!(found(&files), ["holds `tickets`, which its name does not say"]);
        let files = [("designs/product/Tickets.design", "design Tickets \"Seats\"\n")];
        assert_eq!(found(&files).len(), 1);
        let files = [("designs/product/tickets.design", "// nothing yet\n")];
        assert_eq!(found(&files), ["declares neither a `design` nor an `archetype`"]);
    }

    #[test]
    fn an_archetype_in_the_wrong_folder_is_caught() {
        let files = [("designs/product/i02.design", "archetype I02 Claim \"Claim\"\n")];
        assert_eq!(found(&files), ["the archetype `I02` belongs in `designs/infra/`"]);
    }

    #[test]
    fn two_designs_of_one_name_are_caught() {
        let files = [
            ("designs/product/job_queue.design", "design JobQueue \"a\"\n"),
            ("designs/systems/job-queue.design", "design JobQueue \"b\"\n"),
        ];
        assert_eq!(found(&files), ["has the same name as `designs/product/job_queue.design`"]);
    }
}
