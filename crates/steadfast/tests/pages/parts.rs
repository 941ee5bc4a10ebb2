//! A page, taken apart into what a reader does with it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::readme::Shown;
use crate::cli::support::root;

/// What a reader does, in the order of the page.
pub enum Part {
    /// Writes a file: a block `design NAME` or `design NAME violated`.
    File { name: String, text: String },
    /// Changes a file: a block `diff NAME` without line numbers.
    Change { name: String, lines: Vec<String> },
    /// Types commands: a block `console` that begins with `$ `.
    Type(Vec<Shown>),
    /// Reads what the running server prints next: a block `console` that begins otherwise.
    Read(Vec<String>),
    /// Stops the running server: a line `^C`, and what follows it.
    Stop(Vec<String>),
}

/// A block between two fences.
pub struct Block {
    pub info: String,
    pub lines: Vec<String>,
    /// the line of the opening fence, from 1
    pub line: usize,
}

pub fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let body = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
        let lines = body.map(String::from).collect();
        found.push(Block { info: info.to_string(), lines, line: number + 1 });
    }
    found
}

/// What there is to do on a page. `None` for a page without a `console`: nothing is typed there.
pub fn parts(page: &str) -> Option<Vec<Part>> {
    let blocks = blocks(page);
    if !blocks.iter().any(|block| block.info == "console") {
        return None;
    }
    let mut found = Vec::new();
    for Block { info, lines, line } in blocks {
        match info.split(' ').collect::<Vec<_>>()[..] {
            ["console"] => console(lines, &mut found),
            ["design", name] | ["design", name, "violated"] => {
                found.push(Part::File { name: name.into(), text: lines.join("\n") + "\n" });
            }
            ["diff", name] => found.push(Part::Change { name: name.into(), lines }),
            // formats and configurations of other programs
            ["design" | "text" | "ini" | "nginx" | "yaml" | "sql"] => {}
            _ => panic!("line {line}: nothing is known of ```{info}"),
        }
    }
    Some(found)
}

fn console(lines: Vec<String>, found: &mut Vec<Part>) {
    let mut typed: Vec<Shown> = Vec::new();
    let mut read = Vec::new();
    let mut stopped: Option<Vec<String>> = None;
    for line in lines {
        if let Some(rest) = &mut stopped {
            rest.push(line);
        } else if line == "^C" {
            stopped = Some(Vec::new());
        } else if let Some(command) = line.strip_prefix("$ ") {
            typed.push(Shown { command: command.into(), output: Vec::new() });
        } else if let Some(last) = typed.last_mut() {
            // a long command goes on in the next line
            match last.command.strip_suffix('\\').filter(|_| last.output.is_empty()) {
                Some(begun) => last.command = format!("{begun}{}", line.trim_start()),
                None => last.output.push(line),
            }
        } else {
            read.push(line);
        }
    }
    found.extend((!read.is_empty()).then_some(Part::Read(read)));
    found.extend((!typed.is_empty()).then_some(Part::Type(typed)));
    found.extend(stopped.map(Part::Stop));
}

/// A text after a change that is shown as a diff. Lines that are removed or stay must stand there, one
/// after the other, exactly once.
pub fn changed(text: &str, change: &[String]) -> Result<String, String> {
    let side = |other: char| -> Vec<&str> {
        let kept = change.iter().filter(|line| !line.starts_with(other));
        kept.map(|line| line.get(1..).unwrap_or_default()).collect()
    };
    let (before, after) = (side('+'), side('-'));
    let lines: Vec<&str> = text.lines().collect();
    let found: Vec<usize> =
        (0..lines.len()).filter(|at| lines[*at..].starts_with(&before)).collect();
    let [at] = found[..] else {
        let (count, before) = (found.len(), before.join("\n"));
        return Err(format!(
            "these lines are there {count} times, not once:\n{before}\nin\n{text}"
        ));
    };
    let made = [&lines[..at], &after, &lines[at + before.len()..]].concat();
    Ok(made.join("\n") + "\n")
}

/// All pages for readers: `README.md` and what is below `docs/`, by their path from the root. Pages
/// that are generated, or have tests of their own for each block, are left out.
pub fn pages() -> Vec<(String, String)> {
    let mut found = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    below(&root().join("docs"), &mut found);
    let name = |path: &Path| path.strip_prefix(root()).unwrap().display().to_string();
    let own = ["docs/language/", "docs/errors/", "docs/catalog/"];
    let mut pages: Vec<(String, String)> = found
        .iter()
        .map(|path| (name(path), fs::read_to_string(path).unwrap()))
        .filter(|(name, _)| !own.iter().any(|own| name.starts_with(own)))
        .collect();
    pages.sort();
    pages
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            below(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

#[test]
fn a_change_is_made_where_its_lines_stand() {
    let change = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
    let text = "a\nb\nc\n";
    let made = changed(text, &change(&[" a", "-b", "+x", "+y"]));
    assert_eq!(made.as_deref(), Ok("a\nx\ny\nc\n"));
    assert!(changed(text, &change(&["-d", "+x"])).is_err());
    assert!(changed("b\nb\n", &change(&["-b", "+x"])).is_err());
    // a part of a line is not a line
    assert!(changed("abc\n", &change(&["-b", "+x"])).is_err());
}

#[test]
fn a_console_is_taken_apart() {
    let page = "```console\n$ a \\\n    b\nout\n$ c\n```\n```console\nsaid\n```\n```console\n^C\nbye\n```\n";
    let found = parts(page).unwrap();
    let [Part::Type(typed), Part::Read(read), Part::Stop(after)] = &found[..] else {
        panic!("{} parts", found.len());
    };
    assert_eq!(
        (typed[0].command.as_str(), &typed[0].output[..]),
        ("a b", &["out".to_string()][..])
    );
    assert_eq!((typed[1].command.as_str(), read[0].as_str()), ("c", "said"));
    assert_eq!(after, &["bye"]);
    assert!(parts("no commands\n").is_none());
}
