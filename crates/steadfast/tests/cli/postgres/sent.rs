//! What `explain --engine postgres` prints, held against what a database was sent.

use std::time::{Duration, Instant};

use explain::{Engine, Line, Realized, realize};
use serde_json::{Value, json};

use super::{Bank, DESIGN, database, start};
use crate::cli::support::folder_with;

/// So many calls of each step are compared, at most.
const ATTEMPTS: usize = 5;

/// A request in the log of the database, with its parameters as they were sent.
#[derive(Debug)]
struct Request {
    statement: String,
    parameters: Vec<Vec<Option<String>>>,
}

impl Request {
    /// Elements of a parameter that are bytes.
    fn bytes(&self, number: usize) -> Vec<Option<Vec<u8>>> {
        let elements = self.parameters[number - 1].iter();
        elements.map(|one| one.as_deref().map(unhexed)).collect()
    }

    /// What is in the group for the commit about this record, as if it had been sent alone: others of the server may
    /// have come in at the same moment.
    fn alone(self, about: &str) -> Request {
        let keys = self.bytes(9);
        let at = keys.iter().flatten().position(|key| within(key, about)).unwrap();
        let number = self.parameters[7][at].clone();
        let own = number.as_ref().unwrap().parse::<usize>().unwrap() - 1;
        let mut alone = Vec::new();
        for (place, values) in self.parameters.iter().enumerate() {
            let of = match place {
                0..4 => {
                    alone.push(vec![values[own].clone()]);
                    continue;
                }
                4..7 => &self.parameters[4],
                7..11 => &self.parameters[7],
                // where it meets another one of the group
                11..15 => &self.parameters[11],
                _ => {
                    alone.push(values.clone());
                    continue;
                }
            };
            let own = values.iter().zip(of).filter(|(_, of)| **of == number);
            alone.push(own.map(|(value, _)| value.clone()).collect());
        }
        Request { statement: self.statement, parameters: alone }
    }

    fn mentions(&self, number: usize, text: &str) -> bool {
        self.parameters.len() >= number
            && self.bytes(number).iter().flatten().any(|bytes| within(bytes, text))
    }
}

fn within(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

/// `\x6162`, with its backslash escaped or not. Nothing of what is no bytes.
fn unhexed(text: &str) -> Vec<u8> {
    let Some(hex) = text.trim_start_matches('\\').strip_prefix('x') else { return Vec::new() };
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or_else(|| panic!("{text}")) as u8;
    hex.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// The requests of unnamed statements, in their order. A parameter comes in the line after its statement.
fn requests(log: &str) -> Vec<Request> {
    let mut found: Vec<Request> = Vec::new();
    for line in log.lines() {
        if let Some((_, statement)) = line.split_once("LOG:  execute <unnamed>: ") {
            found.push(Request { statement: statement.to_owned(), parameters: Vec::new() });
        } else if let Some((_, parameters)) = line
            .split_once("DETAIL:  parameters: ")
            .or_else(|| line.split_once("DETAIL:  Parameters: "))
            && let Some(last) = found.last_mut()
        {
            last.parameters = parameters.split(", $").map(array).collect();
        }
    }
    found
}

/// `4 = '{1,1}'`: elements in quotes or bare, NULL among them.
fn array(parameter: &str) -> Vec<Option<String>> {
    let Some((_, value)) = parameter.split_once(" = ") else { panic!("{parameter}") };
    let value = value.trim_matches('\'');
    let Some(inner) = value.strip_prefix('{').and_then(|value| value.strip_suffix('}')) else {
        return vec![Some(value.to_owned())];
    };
    let elements = inner.split(',').filter(|element| !element.is_empty());
    let plain = |element: &str| element.trim_matches('"').to_owned();
    elements.map(|element| (element != "NULL").then(|| plain(element))).collect()
}

/// Whether a line is part of this commit: of a record that is new, by a call with an idempotency key.
fn holds(line: &Line) -> bool {
    let Some(when) = &line.when else { return true };
    !(when.ends_with(" was there") || when.contains("was due at another time"))
}

/// What the lines of a commit say of three parameters: the space of each key, and what stands with it.
fn said(realized: &Realized, places: &str) -> Vec<(u8, String)> {
    let lines = realized.commit.iter().filter(|line| holds(line));
    let lines = lines.filter_map(|line| line.text.strip_prefix(places));
    let mut said: Vec<(u8, String)> = lines
        .map(|values| {
            let values: Vec<&str> = values.split(", ").collect();
            assert_eq!(values[0], "1", "it is the first of its group");
            let name = values[1].trim_start_matches('{').trim_end_matches(".key}");
            (space(realized, name), values[2].to_owned())
        })
        .collect();
    said.sort();
    said
}

/// The letter that the key of a record has behind the number of the design.
fn space(realized: &Realized, name: &str) -> u8 {
    if name == "epoch" {
        return b'm';
    }
    let reads = realized.form.reads.iter().map(|record| (&record.name, &record.key));
    let writes = realized.form.writes.iter().map(|write| (&write.name, &write.key));
    let (_, key) = reads.chain(writes).find(|(known, _)| *known == name).unwrap();
    key.bytes(0, &|_| vec![0; 16])[2]
}

fn letter(key: &Option<Vec<u8>>) -> u8 {
    key.as_ref().unwrap()[2]
}

/// The first commit about this record, and what was read about it before, once the log has both.
fn sent(database: &database::Server, from: usize, about: &str) -> (Vec<Request>, Request) {
    let begun = Instant::now();
    loop {
        let log = database.log();
        let mut reads = Vec::new();
        for request in requests(&log[from..]) {
            if request.mentions(9, about) {
                return (reads, request.alone(about));
            }
            if request.mentions(1, about) {
                reads.push(request);
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "nothing was sent about {about}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn what_explain_prints_is_what_the_database_is_sent() {
    let database = database::shared();
    let schema = database.schema();
    database.sql("CREATE ROLE heard SUPERUSER LOGIN; ALTER ROLE heard SET log_statement = 'all'");
    let store = database.address(&schema).replace("steadfast@", "heard@");
    let folder = folder_with("postgres-sent", "many.design", DESIGN);
    let (bank, design) = (Bank::start(), design::compile("many", DESIGN, &NoCatalog).design);
    let server = start(&folder, &store, &bank);
    let printed = realize(&design.unwrap(), Engine::Postgres);
    for (step, subject) in [("raise", "count"), ("pay", "move"), ("take", "lease")] {
        let operation = format!("client[{step}]");
        let realized = printed.operations.iter().find(|it| it.operation == operation).unwrap();
        // What a call reads may be asked for together with what a worker of the server reads at the same moment, and a
        // call that is overtaken reads again. What is printed is of a call that is alone: one of a few has to be.
        let mut differed = Vec::new();
        for attempt in 0..ATTEMPTS {
            let about = format!("captured-{subject}-{attempt}");
            let body = match step {
                "raise" => json!({ "count": about, "by": 1 }),
                "pay" => json!({ "move": about }),
                _ => json!({ "lease": about, "ttl": "1h" }),
            };
            let from = database.log().len();
            called(&server.address, (step, &about), &body);
            let (reads, commit) = sent(&database, from, &about);
            match compared(realized, &schema, &reads, &commit) {
                Ok(()) => break,
                Err(difference) => differed.push(difference),
            }
        }
        assert!(differed.len() < ATTEMPTS, "{step}: {}", differed.join("\n"));
    }
}

/// Is this what was printed, in this schema?
fn compared(
    realized: &Realized,
    schema: &str,
    reads: &[Request],
    commit: &Request,
) -> Result<(), String> {
    let own = |line: &Line| line.text.replace("steadfast.", &format!("{schema}."));
    same(&(reads.len() * 2), &realized.reads.len(), "rounds of reads")?;
    for (read, printed) in reads.iter().zip(realized.reads.chunks(2)) {
        same(&read.statement, &own(&printed[0]), "the read")?;
        let asked = printed[1].text.strip_prefix("$1: ").unwrap().split(", ");
        let name = |key: &str| key.trim_start_matches('{').trim_end_matches(".key}").to_owned();
        let mut asked: Vec<u8> = asked.map(|key| space(realized, &name(key))).collect();
        asked.sort_unstable();
        let mut keys: Vec<u8> = read.bytes(1).iter().map(letter).collect();
        keys.sort_unstable();
        // a server that has read it is not told again
        if !keys.contains(&b'm') {
            asked.retain(|space| *space != b'm');
        }
        same(&keys, &asked, "what is read")?;
    }
    same(&commit.statement, &own(&realized.commit[0]), "the commit")?;
    assert_eq!(commit.parameters.len(), 16);
    assert_eq!(realized.commit[1].text, "$1, $2, $3, $4: {token}, {version}, true, {feed.entry}");
    for number in 1..=4 {
        same(&commit.parameters[number - 1].len(), &1, "what stands for the whole")?;
        same(&commit.parameters[number - 1][0].is_some(), &true, "what stands for the whole")?;
    }
    let versions = commit.parameters[6].iter().flatten().map(|version| match &**version {
        "0" => "0",
        _ => "a version",
    });
    let mut checks: Vec<(u8, &str)> = commit.bytes(6).iter().map(letter).zip(versions).collect();
    checks.sort_unstable();
    let expected = said(realized, "$5, $6, $7: ");
    let expected = expected.iter().map(|(space, version)| match &**version {
        "0" => (*space, "0"),
        _ => (*space, "a version"),
    });
    // with an idempotency key that was never sent before
    let expected: Vec<(u8, &str)> = expected
        .map(|(space, version)| if space == b'i' { (space, "0") } else { (space, version) })
        .collect();
    same(&checks, &expected, "what is checked")?;
    let values = commit.parameters[9].iter().map(Option::is_some);
    let mut writes: Vec<(u8, bool)> = commit.bytes(9).iter().map(letter).zip(values).collect();
    writes.sort_unstable();
    let expected = said(realized, "$8, $9, $10, $11: ");
    let expected: Vec<(u8, bool)> =
        expected.iter().map(|(space, value)| (*space, value != "NULL")).collect();
    same(&writes, &expected, "what is written")?;
    for number in 12..=16 {
        same(&commit.parameters[number - 1].is_empty(), &true, "that it was sent alone")?;
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(sent: &T, printed: &T, what: &str) -> Result<(), String> {
    match sent == printed {
        true => Ok(()),
        false => Err(format!("{what}: {sent:?} was sent, and {printed:?} is printed")),
    }
}

struct NoCatalog;

impl design::Catalog for NoCatalog {
    fn archetype(&self, _: &str) -> Option<&str> {
        None
    }

    fn ids(&self) -> Vec<String> {
        Vec::new()
    }
}

/// One call, with an idempotency key.
fn called(server: &str, (step, key): (&str, &str), body: &Value) {
    let agent = ureq::Agent::new_with_config(
        ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build(),
    );
    let answer = agent
        .post(format!("{server}/v1/many/client/{step}"))
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", format!("key of {key}"))
        .send(body.to_string())
        .unwrap();
    assert_eq!(answer.status().as_u16(), 200, "{step}");
}
