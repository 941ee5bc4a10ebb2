//! What editors know of the language without the server.

use serde_json::Value;
use syntax::KEYWORDS;

use crate::editor::root;

fn grammar() -> Value {
    let path = root().join("editors/vscode/syntaxes/steadfast.tmLanguage.json");
    let text = std::fs::read_to_string(path).expect("the grammar is there");
    serde_json::from_str(&text).expect("it is JSON")
}

#[test]
fn the_grammar_has_the_keywords_of_the_parser() {
    let grammar = grammar();
    let matched = grammar["repository"]["keyword"]["match"].as_str().expect("an expression");
    let (_, words) = matched.split_once("(?:").expect("a list of words");
    let (words, _) = words.split_once(')').expect("the list ends");
    let mut words: Vec<&str> = words.split('|').collect();
    words.sort_unstable();
    assert_eq!(words, KEYWORDS);
}

#[test]
fn every_rule_of_the_grammar_is_used() {
    let grammar = grammar();
    let rules = grammar["repository"].as_object().expect("rules");
    let used: Vec<&str> = grammar["patterns"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|rule| rule["include"].as_str()?.strip_prefix('#'))
        .collect();
    let mut names: Vec<&str> = rules.keys().map(String::as_str).collect();
    let mut sorted = used.clone();
    names.sort_unstable();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
}

#[test]
fn the_extension_says_the_same_as_its_files() {
    let folder = root().join("editors/vscode");
    let text = std::fs::read_to_string(folder.join("package.json")).expect("it is there");
    let package: Value = serde_json::from_str(&text).expect("it is JSON");
    for (kind, key) in [("languages", "configuration"), ("grammars", "path")] {
        let path = package["contributes"][kind][0][key].as_str().expect("a path");
        let text = std::fs::read_to_string(folder.join(path)).expect("the file is there");
        let _: Value = serde_json::from_str(&text).expect("it is JSON");
    }
    assert!(folder.join(package["main"].as_str().expect("a path")).is_file());
    assert_eq!(package["contributes"]["grammars"][0]["scopeName"], grammar()["scopeName"]);
}
