//! What a design of the catalog has to cover: the tables in `designs/facts/`.
//!
//! They hold names and figures only. `actions/ID.tsv` also says which operations are which action;
//! the ledger asks whether there are such operations.

use crate::repo::File;

const FOLDER: &str = "designs/facts/";

#[derive(Debug, Default)]
pub struct Facts {
    pub archetypes: Vec<Archetype>,
    /// what should be known of every archetype beyond its text: the kinds of `notes.tsv` that are a sentence
    pub kinds: Vec<String>,
}

#[derive(Debug, Default)]
pub struct Archetype {
    pub id: String,
    pub name: String,
    pub states: Vec<State>,
    pub actions: Vec<Action>,
    /// the lines of the sheet of actions, by action and entity, and whether a design is held to it
    pub lines: Vec<(String, bool)>,
    pub protocols: Vec<Protocol>,
    pub failures: Vec<String>,
    pub hotspots: Vec<String>,
    pub pairs: Vec<Pair>,
    /// the families of invariants that it should have goals of
    pub families: Vec<String>,
    /// which of [`Facts::kinds`] are known
    pub notes: Vec<String>,
}

/// A failure that is prevented, and repaired where it happened all the same.
#[derive(Debug)]
pub struct Pair {
    pub failure: String,
    /// what the repair does, in words
    pub repair: String,
    /// `actor[operation]`
    pub repaired_by: Vec<String>,
}

#[derive(Debug)]
pub struct State {
    pub name: String,
    /// another name for the same thing, which serves as well
    pub also: Option<String>,
    pub attributes: Vec<String>,
}

#[derive(Debug)]
pub struct Action {
    pub name: String,
    /// `actor[operation]`, or a view
    pub operations: Vec<String>,
}

#[derive(Debug)]
pub struct Protocol {
    pub name: String,
    pub paths: Vec<Path>,
}

#[derive(Debug, Default)]
pub struct Path {
    pub steps: Vec<Step>,
    pub outcome: Option<String>,
}

#[derive(Debug)]
pub struct Step {
    /// `actor[operation]`
    pub operation: String,
    /// `State.attribute`: what its guard has to read
    pub reads: Vec<String>,
}

pub fn read(files: &[File]) -> Result<Facts, String> {
    let mut facts = Facts::default();
    for [id, name] in table::<2>(files, &format!("{FOLDER}archetypes.tsv"))? {
        facts.archetypes.push(Archetype { id, name, ..Archetype::default() });
    }
    for [id, name, attributes, also] in table::<4>(files, &format!("{FOLDER}states.tsv"))? {
        let state =
            State { name, also: list(&also, ',').pop(), attributes: list(&attributes, ',') };
        facts.of(&id)?.states.push(state);
    }
    for [id, protocol, path, _, actor, operation, reads, outcome] in
        table::<8>(files, &format!("{FOLDER}protocols.tsv"))?
    {
        let paths = facts.of(&id)?.protocol(protocol);
        let at =
            path.parse::<usize>().map_err(|_| format!("`{path}` is not the number of a path"))?;
        paths.resize_with(paths.len().max(at), Path::default);
        let path = paths.get_mut(at.wrapping_sub(1)).ok_or("paths are counted from 1")?;
        path.steps
            .push(Step { operation: format!("{actor}[{operation}]"), reads: list(&reads, ',') });
        path.outcome = list(&outcome, ',').pop();
    }
    for [id, failure] in table::<2>(files, &format!("{FOLDER}failures.tsv"))? {
        facts.of(&id)?.failures.push(failure);
    }
    for [id, hotspot] in table::<2>(files, &format!("{FOLDER}hotspots.tsv"))? {
        facts.of(&id)?.hotspots.push(hotspot);
    }
    for [id, failure, _, repair, by] in table::<5>(files, &format!("{FOLDER}pairs.tsv"))? {
        let archetype = facts.of(&id)?;
        if !archetype.failures.contains(&failure) {
            return Err(format!("`{failure}` is no failure of {id}"));
        }
        archetype.pairs.push(Pair { failure, repair, repaired_by: list(&by, ' ') });
    }
    for [kind, form] in table::<2>(files, &format!("{FOLDER}kinds.tsv"))? {
        facts.kinds.extend((form == "text").then_some(kind));
    }
    for [id, kind, text] in table::<3>(files, &format!("{FOLDER}notes.tsv"))? {
        let is_wanted = facts.kinds.contains(&kind);
        let archetype = facts.of(&id)?;
        match kind.as_str() {
            "invariant_families" => {
                archetype.families = text.split("; ").map(str::to_owned).collect();
            }
            _ if is_wanted => archetype.notes.push(kind),
            _ => {}
        }
    }
    for archetype in &mut facts.archetypes {
        let path = format!("{FOLDER}actions/{}.tsv", archetype.id);
        // of some archetypes of products no actions are known beyond their protocols
        if archetype.is_product() && !files.iter().any(|file| file.path == path) {
            continue;
        }
        for [_, name, operations] in table::<3>(files, &path)? {
            archetype.actions.push(Action { name, operations: list(&operations, ' ') });
        }
    }
    lines(files, &mut facts)?;
    Ok(facts)
}

/// The lines of the sheet of actions, and which of them `explain` is held to by a design.
fn lines(files: &[File], facts: &mut Facts) -> Result<(), String> {
    const DATA: &str = "crates/explain/tests/data/";
    let all = table::<5>(files, &format!("{DATA}actions.tsv"))?;
    for archetype in &mut facts.archetypes {
        let path = format!("{DATA}actions_of/{}.tsv", archetype.id);
        let held = match files.iter().any(|file| file.path == path) {
            true => table::<4>(files, &path)?,
            false => Vec::new(),
        };
        for [layer, section, action, entity, _] in &all {
            // the lines of whole systems are no facts of an archetype
            if layer == "infra" && *section == archetype.name {
                let is_held = held.iter().any(|row| row[0] == *action && row[1] == *entity);
                archetype.lines.push((format!("{action} -> {entity}"), is_held));
            }
        }
    }
    Ok(())
}

impl Facts {
    fn of(&mut self, id: &str) -> Result<&mut Archetype, String> {
        let found = self.archetypes.iter_mut().find(|archetype| archetype.id == id);
        found.ok_or_else(|| format!("`{id}` is not in {FOLDER}archetypes.tsv"))
    }
}

impl Archetype {
    pub fn is_product(&self) -> bool {
        self.id.starts_with('A')
    }

    /// The folder of `designs/` in which its design is, or will be.
    pub fn folder(&self) -> &'static str {
        if self.is_product() { "product" } else { "infra" }
    }

    fn protocol(&mut self, name: String) -> &mut Vec<Path> {
        let at = self.protocols.iter().position(|protocol| protocol.name == name);
        let at = at.unwrap_or_else(|| {
            self.protocols.push(Protocol { name, paths: Vec::new() });
            self.protocols.len() - 1
        });
        &mut self.protocols[at].paths
    }
}

/// The rows below the head, each of so many cells; cells that are left out at the end are empty.
fn table<const N: usize>(files: &[File], path: &str) -> Result<Vec<[String; N]>, String> {
    let file = files.iter().find(|file| file.path == path).ok_or(format!("no file `{path}`"))?;
    let mut rows = Vec::new();
    for (at, line) in file.text.lines().enumerate().skip(1) {
        let mut cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
        if cells.len() > N {
            return Err(format!("{path}:{}: more than {N} cells", at + 1));
        }
        cells.resize(N, String::new());
        rows.push(cells.try_into().unwrap_or_else(|_| unreachable!("resized to N")));
    }
    Ok(rows)
}

/// `a,b`, or `-` for none
fn list(cell: &str, divided_by: char) -> Vec<String> {
    let parts = cell.split(divided_by).filter(|part| !part.is_empty() && *part != "-");
    parts.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo;

    #[test]
    fn the_tables_of_the_catalog_are_whole() {
        let files = repo::files(&repo::root().unwrap()).unwrap();
        let facts = read(&files).unwrap();
        let count = |of: fn(&Archetype) -> usize| facts.archetypes.iter().map(of).sum::<usize>();
        assert_eq!(facts.archetypes.len(), 40);
        let products = facts.archetypes.iter().filter(|archetype| archetype.is_product());
        assert_eq!(products.clone().count(), 19);
        assert_eq!(products.map(|a| a.failures.len()).sum::<usize>(), 84);
        assert_eq!(count(|a| a.protocols.len()), 43);
        let steps = |a: &Archetype| -> usize {
            a.protocols.iter().flat_map(|p| &p.paths).map(|path| path.steps.len()).sum()
        };
        assert_eq!(facts.archetypes.iter().map(steps).sum::<usize>(), 111);
        assert_eq!(count(|a| a.failures.len()), 171);
        assert_eq!(count(|a| a.hotspots.len()), 133);
        assert_eq!(count(|a| a.lines.len()), 53);
        assert_eq!(count(|a| a.pairs.len()), 47);
        assert_eq!(count(|a| a.families.len()), 25);
        assert_eq!((count(|a| a.notes.len()), facts.kinds.len()), (40 * 12, 12));
        for archetype in &facts.archetypes {
            let acts = archetype.is_product() || !archetype.actions.is_empty();
            assert!(!archetype.states.is_empty() && acts, "{archetype:?}");
        }
    }

    #[test]
    fn an_unknown_archetype_is_a_mistake() {
        let mut files: Vec<File> =
            ["states", "protocols", "failures", "hotspots", "pairs", "kinds", "notes"]
                .map(|name| repo::file(&format!("{FOLDER}{name}.tsv"), "head\n"))
                .into();
        files.push(repo::file(&format!("{FOLDER}archetypes.tsv"), "archetype\tname\nI01\tOne\n"));
        files[2] = repo::file(&format!("{FOLDER}failures.tsv"), "head\nI07\tgone\n");
        assert!(read(&files).unwrap_err().contains("`I07`"));
    }
    #[test]
    fn a_pair_is_of_a_failure_that_there_is() {
        let table = |name: &str, rows: &str| {
            repo::file(&format!("{FOLDER}{name}.tsv"), &format!("head\n{rows}"))
        };
        let read = |pair: &str| {
            read(&[
                table("archetypes", "A01\tOne\n"),
                table("states", ""),
                table("protocols", ""),
                table("failures", "A01\tgone\n"),
                table("hotspots", ""),
                table("pairs", pair),
                table("kinds", ""),
                table("notes", ""),
                repo::file("crates/explain/tests/data/actions.tsv", "head\n"),
            ])
        };
        let facts = read("A01\tgone\tp\tr\ta[x] b[y]\n").unwrap();
        assert_eq!(facts.archetypes[0].pairs[0].repaired_by, ["a[x]", "b[y]"]);
        assert!(read("A01\tlost\tp\tr\ta[x]\n").unwrap_err().contains("`lost`"));
    }
}
