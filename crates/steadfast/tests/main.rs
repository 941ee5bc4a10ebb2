//! All tests of the command line and of what it serves, in one program.

#[path = "broken/main.rs"]
mod broken;
#[path = "cli/main.rs"]
mod cli;
#[path = "clients/main.rs"]
mod clients;
#[path = "conform/main.rs"]
mod conform;
#[path = "crowd/main.rs"]
mod crowd;
#[path = "../../store-postgres/tests/support/database.rs"]
#[allow(dead_code, reason = "the tests of the store use more of it")]
mod database;
#[path = "doors/main.rs"]
mod doors;
#[path = "drives/main.rs"]
mod drives;
#[path = "editors/main.rs"]
mod editors;
mod evidence;
#[path = "find/main.rs"]
mod find;
mod issuer;
#[path = "../../console/tests/console/looks.rs"]
mod looks;
#[path = "../../explain/tests/support/npm.rs"]
mod npm;
#[path = "openapi/main.rs"]
mod openapi;
#[path = "pages/main.rs"]
mod pages;
#[path = "../../explain/tests/support/programs.rs"]
mod programs;
#[path = "../../store-postgres/tests/support/proxy.rs"]
#[allow(dead_code, reason = "the tests of the store use more of it")]
mod proxy;
mod snippets;
#[path = "../../console/tests/console/webdriver.rs"]
#[allow(dead_code, reason = "the tests of the console use more of it")]
mod webdriver;
