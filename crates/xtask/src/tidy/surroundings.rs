//! Stores and the runtime take time, threads and chance from their `Surroundings`, so that a simulator can give them
//! others. What would go past them is looked for in the source. Tests may do as they like.

use super::code_text::without_comments_and_strings;
use super::problem::Problem;
use crate::repo::File;

const CRATES: &[&str] = &["crates/store/src/", "crates/store-embedded/src/", "crates/runtime/src/"];

/// The one file that asks the machine.
const REAL: &str = "crates/store/src/surroundings/real.rs";

/// Each word, and what it is.
const WORDS: &[(&str, &str)] = &[
    ("std::thread", THREADS),
    ("thread::", THREADS),
    ("thread_local!", "state of a thread"),
    ("Condvar", "a wait that a simulator does not see"),
    ("mpsc", "a wait that a simulator does not see"),
    ("Instant", CLOCK),
    ("SystemTime", CLOCK),
    ("Zoned::now", CLOCK),
    ("Timestamp::now", CLOCK),
    ("RandomState", CHANCE),
    ("SystemRandom", CHANCE),
    ("getrandom", CHANCE),
    ("rand::", CHANCE),
    // their order is chance
    ("HashMap", CHANCE),
    ("HashSet", CHANCE),
];

const THREADS: &str = "a thread";
const CLOCK: &str = "a clock";
const CHANCE: &str = "chance";
const WAIT: &str = "a wait that a simulator does not see";
const STATIC: &str = "state of the process";

/// Types that can be changed though they are not `mut`.
const CHANGEABLE: &[&str] = &[
    "Mutex",
    "RwLock",
    "OnceLock",
    "LazyLock",
    "OnceCell",
    "LazyCell",
    "RefCell",
    "Cell",
    "Atomic",
    "UnsafeCell",
    "Signal",
];

/// What is needed all the same: below this path, this word, for this reason.
pub const ALLOWED: &[(&str, &str, &str)] = &[
    (
        "crates/store/src/conformance/",
        "thread::",
        "the suite that every store must pass calls a store from many threads",
    ),
    ("crates/store/src/conformance/", "std::thread", "the same"),
    ("crates/store/src/conformance/", "mpsc", "the same"),
    ("crates/store/src/conformance/", "block_on(", "the same: its threads are its own"),
    (
        "crates/store/src/linearizability/recorder.rs",
        "thread::",
        "records what many threads see of a store, for tests",
    ),
    ("crates/store/src/linearizability/recorder.rs", "std::thread", "the same"),
    ("crates/store/src/linearizability/recorder.rs", "block_on(", "the same"),
    (
        "crates/store/src/linearizability/mod.rs",
        "HashSet",
        "states that were seen are asked for and never walked through, so their order decides nothing",
    ),
    (
        "crates/store/src/progress.rs",
        "block_on(",
        "what is durable at once, as in memory, has no surroundings: nobody waits for it",
    ),
];

pub fn check(files: &[File], allowed: &[(&str, &str, &str)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut used = vec![false; allowed.len()];
    for file in files.iter().filter(|file| concerns(file)) {
        for (line, word, what) in found(&file.text) {
            let allowance = allowed
                .iter()
                .position(|(path, known, _)| file.path.starts_with(path) && *known == word);
            if let Some(at) = allowance {
                used[at] = true;
                continue;
            }
            let message = format!("`{word}` is {what}, past the surroundings");
            let help = "take time, threads and chance from `store::Surroundings`";
            problems.push(Problem::at(&file.path, line, message).help(help));
        }
    }
    for ((path, word, _), _) in allowed.iter().zip(used).filter(|(_, used)| !used) {
        let message = format!("`{word}` is allowed here and not used");
        problems.push(Problem::in_file(path, message).help("remove the allowance"));
    }
    problems
}

fn concerns(file: &File) -> bool {
    let tests = file.path.ends_with("/tests.rs") || file.path.contains("/tests/");
    file.extension() == "rs"
        && CRATES.iter().any(|path| file.path.starts_with(path))
        && file.path != REAL
        && !tests
}

/// What goes past the surroundings: line, word, what that is.
fn found(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let code = without_comments_and_strings(text);
    let code = without_tests(&code);
    let mut found = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut add = |word, what| found.push((index + 1, word, what));
        let words = WORDS.iter().filter(|(word, _)| has_word(line, word));
        words.for_each(|&(word, what)| add(word, what));
        if has_own_wait(line) {
            add("block_on(", WAIT);
        }
        let changeable = |declared: &str| {
            declared.starts_with("mut ") || CHANGEABLE.iter().any(|word| declared.contains(word))
        };
        if declared_static(line).is_some_and(changeable) {
            add("static", STATIC);
        }
    }
    found
}

/// Without the tests at the end of a file.
fn without_tests(code: &str) -> &str {
    let ends = code.match_indices("#[cfg(test)]").find(|(at, _)| {
        let after = code[*at..].lines().nth(1).unwrap_or_default();
        after.starts_with("mod ") && after.ends_with('{')
    });
    ends.map_or(code, |(at, _)| &code[..at])
}

/// Whether a word stands in a line that does not continue a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next().filter(|_| word.ends_with(part));
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

/// Whether a future is run on the machine's thread: `block_on` as a function, and not that of surroundings.
fn has_own_wait(line: &str) -> bool {
    line.match_indices("block_on(").any(|(at, _)| {
        let before = &line[..at];
        !before.ends_with('.') && !before.ends_with("fn ")
    })
}

/// What stands between `static` and its value.
fn declared_static(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    if let Some(public) = rest.strip_prefix("pub") {
        rest = public.trim_start();
        if rest.starts_with('(') {
            rest = rest.split_once(')')?.1.trim_start();
        }
    }
    Some(rest.strip_prefix("static ")?.split('=').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::file;
    use crate::tidy::problem::places;

    #[test]
    fn every_word_is_caught_in_the_three_crates_and_in_their_source_alone() {
        for (word, _) in WORDS {
            let text = format!("fn f() {{\n    {word}\n}}\n");
            let planted = [
                file("crates/store/src/a.rs", &text),
                file("crates/store-embedded/src/map/a.rs", &text),
                file("crates/runtime/src/a.rs", &text),
                file("crates/runtime/tests/a.rs", &text),
                file("crates/store-embedded/src/map/tests.rs", &text),
                file("crates/gateway/src/a.rs", &text),
                file(REAL, &text),
            ];
            let found = places(&check(&planted, &[]));
            let wanted = ["store/src", "store-embedded/src/map", "runtime/src"];
            assert_eq!(found, wanted.map(|path| format!("crates/{path}/a.rs:2")), "{word}");
        }
    }

    fn caught(text: &str) -> Vec<String> {
        places(&check(&[file("crates/runtime/src/a.rs", text)], &[]))
    }

    #[test]
    fn what_was_there_before_is_caught() {
        for planted in [
            "static UPLOADS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());",
            "pub(crate) static COUNT: AtomicU64 = AtomicU64::new(0);",
            "    static TIMER: LazyLock<Timer> = LazyLock::new(Timer::start);",
            "let handle = std::thread::Builder::new().name(name).spawn(run);",
            "std::thread::sleep(rest);",
            "use std::time::{Duration, Instant};",
            "let page = store::block_on(self.store.feed(from, CHUNK));",
            "let page = block_on(self.store.feed(from, CHUNK));",
        ] {
            assert!(!caught(&format!("{planted}\n")).is_empty(), "{planted}");
        }
    }

    #[test]
    fn what_asks_nothing_of_the_machine_is_let_be() {
        for text in [
            "static NAMES: [&str; 2] = [\"a\", \"b\"];",
            "fn f(name: &'static str, lock: &Mutex<u64>) {}",
            "let known: FxHashMap<u64, usize> = FxHashMap::default();",
            "// never an Instant, and no thread::sleep\nlet said = \"HashMap\";",
            "let page = self.block_on(self.store.feed(from, CHUNK));",
            "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    use std::time::Instant;\n}",
            "struct Instantiated;",
        ] {
            assert_eq!(caught(&format!("{text}\n")), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn an_allowance_holds_for_its_place_and_its_word_and_must_be_needed() {
        let allowed = &[("crates/store/src/a.rs", "HashSet", "it is never walked through")];
        let text = "use std::collections::HashSet;\nuse std::collections::HashMap;\n";
        let planted = [file("crates/store/src/a.rs", text)];
        assert_eq!(places(&check(&planted, allowed)), ["crates/store/src/a.rs:2"]);
        let planted = [file("crates/store/src/b.rs", "use std::collections::HashSet;\n")];
        let found = places(&check(&planted, allowed));
        assert_eq!(found, ["crates/store/src/b.rs:1", "crates/store/src/a.rs:0"]);
    }
}
