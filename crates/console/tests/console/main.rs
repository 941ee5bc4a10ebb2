//! The console, as a plain client and as a browser sees it.

mod apps;
mod browser;
mod looks;
#[path = "../../../explain/tests/support/npm.rs"]
mod npm;
mod pages;
#[path = "../../../explain/tests/support/programs.rs"]
mod programs;
mod studio;
mod studio_browser;
#[allow(dead_code, unused_imports, reason = "the tests of the interface use more of it")]
#[path = "../../../server/tests/http/support/mod.rs"]
mod support;
mod tokens;
mod verdicts;
mod webdriver;
