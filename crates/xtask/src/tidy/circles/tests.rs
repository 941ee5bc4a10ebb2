use super::*;
use crate::repo::file;

/// A crate `a` with these modules beside its root.
fn sources(modules: &[(&str, &str)]) -> Vec<File> {
    let declared: String = modules
        .iter()
        .filter(|(name, _)| !name.contains('/'))
        .map(|(name, _)| format!("mod {};\n", name.trim_end_matches(".rs")))
        .collect();
    let mut files = vec![file("crates/a/src/lib.rs", &declared)];
    files.extend(modules.iter().map(|(name, text)| file(&format!("crates/a/src/{name}"), text)));
    files
}

fn found(files: &[File]) -> Vec<Vec<String>> {
    circles(files, "a")
        .into_iter()
        .map(|circle| circle.iter().map(|path| path.replace("crates/a/src/", "")).collect())
        .collect()
}

const FOUR: &[(&str, &str)] = &[
    ("one.rs", "use crate::two::Two;"),
    ("two.rs", "use super::three;"),
    ("three.rs", "use crate::{four::{Four, *}, other::Other};"),
    ("four.rs", "fn f() {\n    use crate::one;\n}"),
    ("other.rs", "use std::fmt;"),
];

#[test]
fn a_circle_of_four_is_found() {
    let files = sources(FOUR);
    assert_eq!(found(&files), [["four.rs", "one.rs", "three.rs", "two.rs"]]);
    let problems = check(&files);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.starts_with("4 files import each other in a circle"));
}

#[test]
fn a_circle_of_three_is_allowed() {
    let files = sources(&[
        ("one.rs", "use crate::two::Two;"),
        ("two.rs", "use super::three;"),
        ("three.rs", "use crate::one::One;"),
    ]);
    assert_eq!(check(&files), []);
}

#[test]
fn whoever_imports_through_a_face_depends_on_the_face() {
    let behind = |imports: &'static str| {
        let mut files = sources(&[
            ("one.rs", "use crate::folder::Two;"),
            ("folder/two.rs", "use crate::three;"),
            ("three.rs", "use crate::four;"),
            ("four.rs", "use crate::one;"),
            ("folder/mod.rs", imports),
        ]);
        files[0].text.push_str("mod folder;\n");
        found(&files)
    };
    // `one` stops at the face, so nothing leads on from it to `two`
    assert!(behind("mod two;\npub use two::Two;").is_empty());
    assert!(behind("mod two;\npub(crate) use self::two::Two;").is_empty());
    // what the face needs itself is an import like any other
    let circle = ["folder/mod.rs", "folder/two.rs", "four.rs", "one.rs", "three.rs"];
    assert_eq!(behind("mod two;\nuse two::Two;"), [circle]);
    assert_eq!(behind("mod two;\npub use crate::three::Three;").len(), 1);
}

#[test]
fn a_declaration_and_a_test_are_no_import() {
    let mut files = sources(FOUR);
    files[4].text = "#[cfg(test)]\nmod tests {\n    use crate::one;\n}".to_owned();
    assert!(found(&files).is_empty());
}

#[test]
fn a_module_inside_a_file_stands_in_that_file() {
    let mut files = sources(FOUR);
    files[4].text = "mod inner {\n    use super::super::one;\n    use super::own;\n}".to_owned();
    assert_eq!(found(&files).len(), 1);
    files[4].text = "mod inner {\n    use super::one;\n}".to_owned();
    assert!(found(&files).is_empty());
}
