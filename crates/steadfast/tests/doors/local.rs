//! What is read by the same code wherever it comes from: tokens, designs, lines that are imported. Here it comes
//! without a server between, so that there can be more of it.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use identity::{Identity, NewToken, Roles};
use store::Seeded;

use super::{Place, spoil};

type Done = (u64, Result<(), String>);

pub const DESIGN: &str = include_str!("../../../../designs/systems/tickets.design");

/// Runs it for each of so many; a panic is what was wrong.
fn each(
    count: u64,
    mut one: impl FnMut() -> (String, Box<dyn FnOnce() -> Result<(), String>>),
) -> Done {
    for at in 0..count {
        let (input, run) = one();
        let wrong = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) => continue,
            Ok(Err(wrong)) => wrong,
            Err(_) => "it panicked".into(),
        };
        return (at, Err(format!("{wrong}:\n{input}")));
    }
    (count, Ok(()))
}

struct Keys {
    identity: Identity,
    token: String,
}

fn keys() -> &'static Keys {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    KEYS.get_or_init(|| {
        let identity = Identity::in_memory().expect("keys");
        let new = NewToken {
            principal: "ann".into(),
            roles: Roles::ALL,
            service: None,
            lifetime_s: 1_000_000,
        };
        let token = identity.issue(&new, 1_000).expect("a token").text;
        assert!(identity.verify(&token, 1_001).is_ok());
        Keys { identity, token }
    })
}

/// A token that was changed is not believed.
pub fn tokens(_: &Place, seeded: &mut Seeded, most: u64) -> Done {
    let keys = keys();
    each(most.min(500), || {
        let token = spoil::text(seeded, &keys.token);
        let same = token == keys.token;
        let asked = token.clone();
        let run = move || match keys.identity.verify(&asked, 1_001) {
            Ok(_) if !same => Err("it is believed".to_string()),
            _ => Ok(()),
        };
        (token, Box::new(run))
    })
}

/// Compiled, and laid out if it can be read.
pub fn designs(_: &Place, seeded: &mut Seeded, most: u64) -> Done {
    let texts = texts();
    each(most.min(100), || {
        let whole = &texts[seeded.below(texts.len() as u64) as usize];
        // a part of it is read sooner, and what is wrong in it matters more
        let from = seeded.below(whole.len() as u64) as usize;
        let to = from + seeded.below(1_500) as usize;
        let part =
            String::from_utf8_lossy(&whole.as_bytes()[from..to.min(whole.len())]).into_owned();
        let of = if seeded.percent(10) { whole } else { &part };
        let text = spoil::text(seeded, of);
        let given = text.clone();
        let run = move || {
            let compiled = design::compile("fuzzed", &given, &design::NoCatalog);
            if compiled.design.is_none() && compiled.diagnostics.is_empty() {
                return Err("it does not compile, and nobody says why".into());
            }
            Ok(())
        };
        (text, Box::new(run))
    })
}

fn texts() -> &'static [String] {
    static TEXTS: OnceLock<Vec<String>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let designs = crate::cli::support::root().join("designs");
        let mut texts = Vec::new();
        for folder in ["infra", "product", "systems"] {
            for entry in fs::read_dir(designs.join(folder)).expect("the catalog") {
                let path = entry.expect("a file").path();
                if path.extension().is_some_and(|extension| extension == "design") {
                    texts.push(fs::read_to_string(path).expect("a design"));
                }
            }
        }
        texts.sort();
        texts
    })
}

/// Lines of an export, one of which was spoilt: a store is made of them, or the line is named.
pub fn imports(place: &Place, seeded: &mut Seeded, most: u64) -> Done {
    each(most.min(5), || {
        let count = 1 + seeded.below(6);
        let mut lines = vec![format!(
            "{{\"steadfast\":\"records\",\"version\":1,\"records\":{count},\"position\":{count}}}"
        )];
        lines.extend((0..count).map(|at| match seeded.below(3) {
            0 => format!(
                "{{\"key64\":\"AAE{}\",\"value64\":\"/+8=\"}}",
                ["A", "E=", "k"][at as usize % 3]
            ),
            _ => format!("{{\"record\":{{}},\"key\":\"k{at}\",\"value\":\"v{at}\"}}"),
        }));
        let at = seeded.below(lines.len() as u64) as usize;
        lines[at] = spoil::text(seeded, &lines[at]);
        let text = lines.join("\n");
        let folder = place.folder.join(format!("import-{}", seeded.number()));
        let given = text.clone();
        let run = move || {
            let made = store_embedded::import(
                &mut given.as_bytes(),
                &folder,
                &store_embedded::Options::default(),
            );
            let wrong = match made {
                Err(error) if error.to_string().trim().is_empty() => Err("nobody says why".into()),
                _ => Ok(()),
            };
            let _ = fs::remove_dir_all(&folder);
            wrong
        };
        (text, Box::new(run) as Box<dyn FnOnce() -> Result<(), String>>)
    })
}
