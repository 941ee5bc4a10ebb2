//! The layer table: which crate of the workspace may depend on which, and which outside crates are
//! kept out of where.

use std::path::Path;

use serde_json::Value;

use super::problem::Problem;
use crate::cargo;

/// One room and what it may lean on.
struct Layer {
    package: &'static str,
    /// Workspace crates it may use.
    uses: &'static [&'static str],
    /// Workspace crates that its tests, examples and benchmarks may use besides.
    tests_use: &'static [&'static str],
    /// Outside crates that would teach it what it must never know.
    never: &'static [&'static str],
}

/// Whatever brings I/O, clocks, threads of its own or chance.
const RUNNING: &[&str] =
    &["tokio", "futures", "async-trait", "hyper", "axum", "reqwest", "rand", "chrono", "jiff"];

/// `RUNNING` but for the library of time zones.
const CALENDAR_NEVER: &[&str] =
    &["tokio", "futures", "async-trait", "hyper", "axum", "reqwest", "rand", "chrono", "time"];

/// `engine` is `RUNNING` and serialisation besides: its records are laid out by whoever stores them.
const IMPURE: &[&str] = &[
    "tokio",
    "futures",
    "async-trait",
    "hyper",
    "axum",
    "reqwest",
    "rand",
    "chrono",
    "jiff",
    "time",
    "serde",
    "serde_json",
    "getrandom",
    "uuid",
];

/// Whatever reads or writes a wire format.
const WIRE: &[&str] =
    &["axum", "http", "http-body-util", "httparse", "hyper", "hyper-util", "reqwest", "ureq"];

const LAYERS: &[Layer] = &[
    Layer { package: "syntax", uses: &[], tests_use: &[], never: RUNNING },
    // time zones and nothing else of `jiff`: no clock
    Layer { package: "calendar", uses: &[], tests_use: &[], never: CALENDAR_NEVER },
    Layer { package: "design", uses: &["calendar", "syntax"], tests_use: &[], never: RUNNING },
    Layer { package: "drawing", uses: &[], tests_use: &[], never: RUNNING },
    // threads for one check beside the editor, and no more: it must not know how to run a design
    Layer {
        package: "language-server",
        uses: &["design", "syntax"],
        tests_use: &[],
        never: RUNNING,
    },
    Layer { package: "engine", uses: &["design"], tests_use: &["syntax"], never: IMPURE },
    Layer { package: "interface", uses: &["design", "engine"], tests_use: &[], never: RUNNING },
    Layer {
        package: "model-checker",
        uses: &["design", "drawing", "engine"],
        // `explain`: a design as a module of TLA+, for the reference checker
        tests_use: &["explain", "syntax"],
        never: RUNNING,
    },
    Layer {
        package: "explain",
        uses: &["calendar", "design", "drawing", "layout", "postgres-requests"],
        tests_use: &["syntax"],
        never: RUNNING,
    },
    Layer { package: "telemetry", uses: &[], tests_use: &[], never: RUNNING },
    Layer {
        package: "layout",
        uses: &["design", "engine", "telemetry"],
        tests_use: &[],
        never: RUNNING,
    },
    Layer { package: "store", uses: &[], tests_use: &[], never: RUNNING },
    Layer { package: "postgres-requests", uses: &[], tests_use: &[], never: RUNNING },
    Layer { package: "store-embedded", uses: &["store"], tests_use: &[], never: RUNNING },
    Layer {
        package: "store-postgres",
        uses: &["postgres-requests", "store"],
        // copies from the one to the other and back
        tests_use: &["store-embedded"],
        never: &["hyper", "axum", "reqwest", "chrono"],
    },
    Layer {
        package: "identity",
        uses: &[],
        tests_use: &[],
        never: &["tokio", "hyper", "axum", "reqwest", "rand", "chrono"],
    },
    Layer {
        package: "runtime",
        uses: &["calendar", "design", "engine", "layout", "store", "telemetry"],
        // `explain`: what it says of keys is held against what is stored
        tests_use: &["explain", "store-embedded"],
        never: &["hyper", "axum", "reqwest", "rand", "chrono"],
    },
    Layer {
        package: "simulator",
        uses: &["design", "layout", "runtime", "store", "store-embedded", "telemetry"],
        tests_use: &[],
        never: &["tokio", "hyper", "axum", "reqwest", "rand", "chrono"],
    },
    Layer {
        package: "rehearsal",
        uses: &["design", "runtime", "store"],
        tests_use: &["syntax"],
        never: WIRE,
    },
    Layer {
        package: "replay",
        uses: &["design", "engine", "model-checker", "runtime", "store"],
        // what it says of partitions is held against what is touched
        tests_use: &["explain"],
        never: &["tokio", "hyper", "axum", "reqwest", "rand", "chrono"],
    },
    Layer {
        package: "search",
        uses: &["runtime"],
        tests_use: &["design", "store", "store-embedded"],
        never: WIRE,
    },
    Layer {
        package: "gateway",
        uses: &["design", "engine", "identity", "model-checker", "runtime", "store", "telemetry"],
        tests_use: &[],
        never: WIRE,
    },
    Layer {
        package: "server",
        uses: &["design", "drawing", "gateway", "identity", "interface", "runtime", "telemetry"],
        // `console`: the tests of the interface also look at the pages
        tests_use: &["console", "engine", "model-checker", "store", "store-embedded"],
        never: &[],
    },
    Layer {
        package: "console",
        uses: &[
            "design",
            "drawing",
            "explain",
            "gateway",
            "identity",
            "model-checker",
            "rehearsal",
            "runtime",
            "server",
        ],
        tests_use: &["store"],
        never: &[],
    },
    Layer {
        package: "outgoing",
        uses: &["design", "runtime", "store", "telemetry"],
        tests_use: &["engine"],
        never: &["hyper", "axum", "tokio", "reqwest"],
    },
    Layer {
        package: "steadfast",
        uses: &[
            "syntax",
            "calendar",
            "console",
            "design",
            "drawing",
            "engine",
            "model-checker",
            "explain",
            "gateway",
            "identity",
            "interface",
            "language-server",
            "store",
            "store-embedded",
            "store-postgres",
            "rehearsal",
            "replay",
            "runtime",
            // behind the feature of the same name
            "search",
            "server",
            "simulator",
            "outgoing",
            "telemetry",
        ],
        tests_use: &[],
        never: &[],
    },
    Layer { package: "xtask", uses: &[], tests_use: &[], never: &[] },
];

/// Outside crates that only tests, examples and benchmarks may use, and of which packages.
/// Empty means of every package.
const DEVELOPMENT_ONLY: &[(&str, &[&str])] =
    &[("stateright", &["model-checker"]), ("proptest", &[]), ("insta", &[]), ("snapbox", &[])];

/// What `cargo metadata` says of one workspace crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    pub dependencies: Vec<Dependency>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    pub name: String,
    pub development: bool,
}

/// Asks cargo for the crates of the workspace and what each of them declares.
pub fn packages(root: &Path) -> Result<Vec<Package>, String> {
    let mut metadata = cargo::command(root);
    metadata.args(["metadata", "--format-version", "1", "--no-deps"]);
    parse(&cargo::output(&mut metadata)?)
}

fn parse(metadata: &str) -> Result<Vec<Package>, String> {
    let value: Value = serde_json::from_str(metadata)
        .map_err(|e| format!("`cargo metadata` printed something else than JSON: {e}"))?;
    let list = value["packages"].as_array().ok_or("`cargo metadata` names no packages")?;
    Ok(list.iter().map(package).collect())
}

fn package(value: &Value) -> Package {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let dependencies = value["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    Package {
        name: text(&value["name"]),
        dependencies: dependencies
            .iter()
            .map(|d| Dependency { name: text(&d["name"]), development: d["kind"] == "dev" })
            .collect(),
    }
}

pub fn check(packages: &[Package]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in packages {
        let manifest = format!("crates/{}/Cargo.toml", package.name);
        let Some(layer) = LAYERS.iter().find(|layer| layer.package == package.name) else {
            problems.push(
                Problem::in_file(&manifest, format!("`{}` has no layer", package.name))
                    .help("give it a row in `LAYERS` in crates/xtask/src/tidy/layers.rs"),
            );
            continue;
        };
        for dependency in &package.dependencies {
            let inside = packages.iter().any(|p| p.name == dependency.name);
            let refusal = if inside { edge(layer, dependency) } else { outside(layer, dependency) };
            problems.extend(refusal.map(|message| Problem::in_file(&manifest, message)));
        }
    }
    for layer in LAYERS {
        if !packages.iter().any(|package| package.name == layer.package) {
            let message = format!("a layer is kept for `{}`, which does not exist", layer.package);
            problems.push(Problem::in_file("crates/xtask/src/tidy/layers.rs", message));
        }
    }
    problems
}

/// Why this edge between two crates of the workspace is not allowed, if it is not.
fn edge(layer: &Layer, dependency: &Dependency) -> Option<String> {
    let name = dependency.name.as_str();
    let allowed = layer.uses.contains(&name)
        || dependency.development && (layer.tests_use.contains(&name) || name == layer.package);
    (!allowed).then(|| format!("`{}` may not depend on `{name}`", layer.package))
}

/// Why this outside crate is not allowed here, if it is not.
fn outside(layer: &Layer, dependency: &Dependency) -> Option<String> {
    let name = dependency.name.as_str();
    if !dependency.development && layer.never.contains(&name) {
        return Some(format!("`{}` must never know of `{name}`", layer.package));
    }
    let (_, homes) = DEVELOPMENT_ONLY.iter().find(|(limited, _)| *limited == name)?;
    if !dependency.development {
        return Some(format!("`{name}` may only be a development dependency"));
    }
    let at_home = homes.is_empty() || homes.contains(&layer.package);
    (!at_home)
        .then(|| format!("`{name}` may only be used by the tests of `{}`", homes.join("`, `")))
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
