//! The document is valid, and no answer departs from it.

use std::process::Command;

use crate::openapi::python::{programs, run};
use crate::openapi::served::{Design, Served, catalog, folder, in_turns};

/// So many requests are made up for each operation; a variable of the environment asks for more.
const EXAMPLES: &str = "8";
const EXAMPLES_VARIABLE: &str = "STEADFAST_SCHEMA_EXAMPLES";

const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance,unsupported_method";

#[test]
fn the_document_is_openapi_3_1_and_no_answer_departs_from_it() {
    in_turns(catalog()).iter().for_each(|designs| holds(designs));
}

fn holds(designs: &[Design]) {
    let mut served = Served::start(designs);
    let url = format!("{}/openapi.json", served.url);
    let folder = folder("openapi");
    let document = folder.join("openapi.json");
    run(Command::new("curl").args(["-sS", "-o"]).arg(&document).arg(&url));
    run(Command::new(programs().join("openapi-spec-validator")).arg(&document));
    let examples = std::env::var(EXAMPLES_VARIABLE).unwrap_or_else(|_| EXAMPLES.to_string());
    // neither a feed nor a view that is followed has an end: who waits for one waits for ever
    let said = run(Command::new(programs().join("schemathesis"))
        .current_dir(&folder)
        .args(["run", &url, "--checks", CHECKS])
        .args(["--exclude-path-regex", "/(feed|live)$", "--max-examples", &examples, "--seed", "1"])
        .args(["--phases", "examples,fuzzing", "--request-timeout", "20", "--no-color"]));
    println!("{said}");
    assert!(!served.has_ended());
}
