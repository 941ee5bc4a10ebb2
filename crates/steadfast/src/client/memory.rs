//! What callers remember between calls: sealed values that a server handed out.
//!
//! One small file for each value, under `$XDG_STATE_HOME/steadfast/memory`, readable by its owner
//! alone. It is found again by server, principal, design, actor, field and record.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use design::model::{Design, MemoryUse, Operation};
use serde_json::{Map, Value, json};

use super::words::word;
use crate::problem::{Problem, reason};

/// The memory of one principal at one server, for one design.
pub struct Remembered {
    folder: PathBuf,
    scope: String,
}

impl Remembered {
    /// None: there is no place to keep anything.
    pub fn new(identity: &str, design: &str) -> Option<Remembered> {
        let state = match std::env::var_os("XDG_STATE_HOME").filter(|path| !path.is_empty()) {
            Some(path) => PathBuf::from(path),
            None => PathBuf::from(std::env::var_os("HOME")?).join(".local/state"),
        };
        let folder = state.join("steadfast/memory");
        Some(Remembered { folder, scope: format!("{identity} {design}") })
    }

    /// Is anything remembered at all?
    pub fn is_empty(&self) -> bool {
        fs::read_dir(&self.folder).map_or(true, |mut entries| entries.next().is_none())
    }

    /// Everything that this step looks at and this principal remembers.
    pub fn for_step(
        &self,
        design: &Design,
        operation: &Operation,
        params: &Map<String, Value>,
    ) -> Map<String, Value> {
        let mut found = Map::new();
        for used in operation.memory.iter().filter(|used| used.read) {
            let place = self.place(design, operation, used, params);
            let Ok(text) = fs::read_to_string(place) else { continue };
            let Ok(kept) = serde_json::from_str::<Value>(&text) else { continue };
            found.insert(runtime::memory_name(design, operation, used), kept["value"].clone());
        }
        found
    }

    /// Keeps what an answer handed out. Gives the names that are remembered now.
    pub fn keep(
        &self,
        design: &Design,
        operation: &Operation,
        params: &Map<String, Value>,
        handed_out: &Map<String, Value>,
    ) -> Result<Vec<String>, Problem> {
        let mut names = Vec::new();
        for used in &operation.memory {
            let name = runtime::memory_name(design, operation, used);
            let Some(value) = handed_out.get(&name) else { continue };
            let place = self.place(design, operation, used, params);
            self.write(&place, &json!({ "of": self.scope, "name": name, "value": value }))
                .map_err(|error| {
                    let place = place.display();
                    Problem::new(format!(
                        "cannot remember `{name}` in `{place}`: {}",
                        reason(&error)
                    ))
                    .help("`--memory name=value` gives it by hand")
                })?;
            names.push(name);
        }
        Ok(names)
    }

    fn place(
        &self,
        design: &Design,
        operation: &Operation,
        used: &MemoryUse,
        params: &Map<String, Value>,
    ) -> PathBuf {
        let actor = &design.actors[used.actor.index()];
        let record = used.of.map(|local| &operation.locals[local.index()].name);
        let record = record.and_then(|name| params.get(name)).map(key_word);
        let field = &actor.memory[used.field.index()].name;
        let identity = json!([self.scope, actor.name, field, record]).to_string();
        self.folder.join(digest(&identity))
    }

    fn write(&self, place: &PathBuf, content: &Value) -> std::io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        // written aside and renamed: whoever reads meanwhile sees the old one or the new one
        let aside = self.folder.join(format!(".{}", std::process::id()));
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&aside)?;
        file.write_all(content.to_string().as_bytes())?;
        fs::rename(&aside, place)
    }
}

/// `7` and `"7"` are one key, and so are `"a"` and `["a"]`.
fn key_word(value: &Value) -> String {
    match value {
        Value::Array(parts) => parts.iter().map(word).collect::<Vec<_>>().join("/"),
        other => word(other),
    }
}

pub fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..32].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn what_was_handed_out_is_found_for_the_same_record_and_principal_alone() {
        let folder = std::env::temp_dir().join(format!("steadfast-memory-{}", std::process::id()));
        let text = catalog::find("I02").unwrap().text;
        let design = steadfast::load("I02", text).unwrap();
        let find = |name: &str| design.operations.iter().find(|known| known.name == name).unwrap();
        let writer = design.operations.iter().find(|o| o.memory.iter().any(|m| m.written)).unwrap();
        let reader = design.operations.iter().find(|o| o.memory.iter().any(|m| m.read)).unwrap();
        assert_eq!(find(&writer.name).name, writer.name);
        let at = |scope: &str| Remembered { folder: folder.clone(), scope: scope.into() };
        let params = |key: &str| {
            let names = writer.params.iter().chain(&reader.params);
            names.map(|param| (param.name.clone(), Value::from(key))).collect::<Map<_, _>>()
        };
        let used = writer.memory.iter().find(|used| used.written).unwrap();
        let name = runtime::memory_name(&design, writer, used);
        let handed_out = Map::from_iter([(name.clone(), Value::from("sealed"))]);
        let kept = at("ann").keep(&design, writer, &params("k1"), &handed_out).ok().unwrap();
        assert_eq!(kept, [name]);
        let found =
            |scope: &str, key: &str| at(scope).for_step(&design, reader, &params(key)).len();
        assert_eq!((found("ann", "k1"), found("ann", "k2"), found("bob", "k1")), (1, 0, 0));
        fs::remove_dir_all(&folder).unwrap();
    }
}
