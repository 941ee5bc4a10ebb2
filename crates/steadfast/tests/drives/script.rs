//! A drive as it is written: who asks what of a served design, what is answered, and what happens
//! in between. `docs/catalog/README.md` tells how to read one.

use serde_json::{Map, Value};

#[derive(Debug, Default)]
pub struct Script {
    /// services of the world outside that the design calls
    pub outside: Vec<String>,
    /// each with its number in the text
    pub lines: Vec<(usize, Line)>,
}

#[derive(Debug, PartialEq)]
pub enum Line {
    /// What follows walks through this protocol of the design.
    Protocol(String),
    /// From the next start on the design is served with this length of time for that.
    Time(String, String),
    /// From the next start on this repair comes so much later than it could.
    Delay(Operation, String),
    /// So many milliseconds pass.
    Pass(u64),
    /// Serve the design; when it is served already, kill -9 comes first.
    Start,
    Call(Call),
    /// Something that nobody calls: a repair, a message, an answer from outside.
    Await {
        operation: Operation,
        record: Option<Record>,
    },
    /// A message that arrives and is refused.
    AwaitRefusal {
        operation: Operation,
        clause: String,
    },
    Truth {
        record: Record,
        /// now, or some time from now
        now: bool,
        /// none: there is no such record
        is: Option<Value>,
    },
    View {
        view: String,
        params: Map<String, Value>,
        is: Value,
    },
    /// How a service outside answers from now on.
    Outside(String, Manner),
    /// How often a service outside did what a request like this one asked for.
    Did {
        service: String,
        body: Value,
        times: usize,
    },
    /// Upload content; what is written `$name` is its digest.
    Upload {
        content: String,
        name: String,
    },
    /// From now on `$name` is what was told.
    Let {
        name: String,
        told: Told,
    },
    /// A service outside has the private half of this key; `$key` is the public one.
    Holds {
        service: String,
        key: String,
    },
    /// Whoever it is has lost its memory.
    Forget(String),
}

#[derive(Debug, PartialEq)]
pub enum Told {
    /// the digest of these texts
    Hash(Vec<String>),
    /// the latest signature that a service made
    Signature(String),
    /// the latest digest that it was asked to sign
    Digest(String),
    /// an attribute of a record, now
    Truth(Record, String),
}

#[derive(Debug, PartialEq)]
pub struct Call {
    pub who: String,
    pub key: Option<String>,
    pub operation: Operation,
    pub params: Map<String, Value>,
    pub answer: Answer,
}

#[derive(Debug, PartialEq)]
pub enum Answer {
    Done,
    /// done before, under the same key
    Replayed,
    /// a read
    Is(Value),
    /// by this clause
    Refused(String),
}

/// `actor[operation]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub actor: String,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub subject: String,
    pub key: Vec<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// does what it is asked, once for each key, and says so
    Answers,
    /// does it, and its answer is lost
    LosesAnswers,
    /// decides against it
    Refuses,
    /// signs something else than it is asked to
    Lies,
    /// does nothing and says nothing
    Down,
}

/// Everything, or what is wrong with it and where.
pub fn parse(text: &str) -> Result<Script, String> {
    let mut script = Script::default();
    let (mut held, mut begins) = (String::new(), 0);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("//") || (line.is_empty() && held.is_empty()) {
            continue;
        }
        if held.is_empty() {
            begins = at + 1;
        }
        held.push_str(line);
        held.push(' ');
        // a line goes on while a bracket is open
        let open = |open: char, close: char| {
            held.matches(open).count().saturating_sub(held.matches(close).count())
        };
        if open('(', ')') + open('[', ']') + open('{', '}') > 0 {
            continue;
        }
        let words = words(&held).map_err(|wrong| format!("line {begins}: {wrong}"))?;
        held.clear();
        let mut reader = Reader { words: &words, at: 0 };
        let line = statement(&mut reader, &mut script.outside);
        let line = line.and_then(|line| reader.end().map(|()| line));
        let line = line.map_err(|wrong| format!("line {begins}: {wrong}"))?;
        script.lines.extend(line.map(|line| (begins, line)));
    }
    if held.is_empty() { Ok(script) } else { Err(format!("line {begins}: a bracket stays open")) }
}

fn statement(reader: &mut Reader<'_>, outside: &mut Vec<String>) -> Result<Option<Line>, String> {
    let first = reader.name()?;
    Ok(Some(match first.as_str() {
        "protocol" => Line::Protocol(reader.name()?),
        "time" => {
            let from = reader.name()?;
            reader.expect("=")?;
            Line::Time(from, reader.name()?)
        }
        "delay" => {
            let operation = operation(reader)?;
            reader.expect("]")?;
            reader.expect("=")?;
            Line::Delay(operation, reader.name()?)
        }
        "pass" => Line::Pass(milliseconds(&reader.name()?)?),
        "serve" | "crash" => Line::Start,
        "await" => {
            let operation = operation(reader)?;
            reader.expect("]")?;
            if reader.take("refused") {
                let clause = reader.name()?;
                return Ok(Some(Line::AwaitRefusal { operation, clause }));
            }
            let record = if reader.take("of") { Some(record(reader)?) } else { None };
            Line::Await { operation, record }
        }
        "view" => {
            let view = reader.name()?;
            let params = if reader.take("(") { fields(reader, ")")? } else { Map::new() };
            reader.expect("is")?;
            Line::View { view, params, is: value(reader)? }
        }
        "outside" => {
            let service = reader.name()?;
            if reader.end().is_ok() {
                outside.push(service);
                return Ok(None);
            }
            if reader.take("did") {
                let body = value(reader)?;
                let times = match reader.name()?.as_str() {
                    "never" => 0,
                    "once" => 1,
                    "twice" => 2,
                    other => return Err(format!("`{other}` is not never, once or twice")),
                };
                return Ok(Some(Line::Did { service, body, times }));
            }
            if reader.take("holds") {
                return Ok(Some(Line::Holds { service, key: reader.name()? }));
            }
            let mut said = Vec::new();
            while reader.end().is_err() {
                said.push(reader.name()?);
            }
            let manner = match said.join(" ").as_str() {
                "answers" => Manner::Answers,
                "loses its answers" => Manner::LosesAnswers,
                "refuses" => Manner::Refuses,
                "signs something else" => Manner::Lies,
                "is down" => Manner::Down,
                other => return Err(format!("nothing outside `{other}`")),
            };
            Line::Outside(service, manner)
        }
        "upload" => {
            let content = reader.name()?;
            reader.expect("as")?;
            Line::Upload { content, name: reader.name()? }
        }
        "let" => {
            let name = reader.name()?;
            reader.expect("=")?;
            Line::Let { name, told: told(reader)? }
        }
        _ if reader.take("forgets") => Line::Forget(first),
        _ if reader.peek("[") => truth(reader, first)?,
        _ => call(reader, first)?,
    }))
}

/// `hash(a1)`, `keystore signature`, `keystore digest`, `Authority[a1] root`
fn told(reader: &mut Reader<'_>) -> Result<Told, String> {
    let of = reader.name()?;
    if of == "hash" {
        reader.expect("(")?;
        let mut texts = vec![reader.name()?];
        while reader.take(",") {
            texts.push(reader.name()?);
        }
        reader.expect(")")?;
        return Ok(Told::Hash(texts));
    }
    if reader.peek("[") {
        let record = Record { subject: of, key: key(reader)? };
        return Ok(Told::Truth(record, reader.name()?));
    }
    match reader.name()?.as_str() {
        "signature" => Ok(Told::Signature(of)),
        "digest" => Ok(Told::Digest(of)),
        other => Err(format!("`{of}` tells no `{other}`")),
    }
}

/// `300ms`, `2s`
fn milliseconds(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (text.strip_suffix('s').unwrap_or(""), 1_000),
    };
    number.parse::<u64>().map(|n| n * unit).map_err(|_| format!("`{text}` is no length of time"))
}

fn truth(reader: &mut Reader<'_>, subject: String) -> Result<Line, String> {
    let record = Record { subject, key: key(reader)? };
    let now = match reader.name()?.as_str() {
        "is" => true,
        "becomes" => false,
        other => return Err(format!("`{other}` is neither `is` nor `becomes`")),
    };
    let is = if reader.take("absent") { None } else { Some(value(reader)?) };
    Ok(Line::Truth { record, now, is })
}

fn call(reader: &mut Reader<'_>, who: String) -> Result<Line, String> {
    let key = if reader.take("under") { Some(reader.name()?) } else { None };
    reader.expect(":")?;
    let operation = operation(reader)?;
    let params = if reader.take("(") { fields(reader, ")")? } else { Map::new() };
    reader.expect("]")?;
    let answer = if reader.take("refused") {
        Answer::Refused(reader.name()?)
    } else if reader.take("=") {
        Answer::Is(value(reader)?)
    } else if reader.take("replayed") {
        Answer::Replayed
    } else {
        Answer::Done
    };
    Ok(Line::Call(Call { who, key, operation, params, answer }))
}

/// `actor[operation`, up to its parameters.
fn operation(reader: &mut Reader<'_>) -> Result<Operation, String> {
    let actor = reader.name()?;
    reader.expect("[")?;
    Ok(Operation { actor, name: reader.name()? })
}

fn record(reader: &mut Reader<'_>) -> Result<Record, String> {
    Ok(Record { subject: reader.name()?, key: key(reader)? })
}

fn key(reader: &mut Reader<'_>) -> Result<Vec<Value>, String> {
    match value(reader)? {
        Value::Array(parts) => Ok(parts),
        other => Err(format!("`{other}` is no key")),
    }
}

fn fields(reader: &mut Reader<'_>, end: &str) -> Result<Map<String, Value>, String> {
    let mut fields = Map::new();
    while !reader.take(end) {
        let name = reader.name()?;
        reader.expect(":")?;
        fields.insert(name, value(reader)?);
        if !reader.peek(end) {
            reader.expect(",")?;
        }
    }
    Ok(fields)
}

fn value(reader: &mut Reader<'_>) -> Result<Value, String> {
    if reader.take("{") {
        return Ok(Value::Object(fields(reader, "}")?));
    }
    if reader.take("[") {
        let mut list = Vec::new();
        while !reader.take("]") {
            list.push(value(reader)?);
            if !reader.peek("]") {
                reader.expect(",")?;
            }
        }
        return Ok(Value::Array(list));
    }
    let Some(word) = reader.words.get(reader.at) else { return Err("a value is missing".into()) };
    reader.at += 1;
    Ok(match word {
        Word::Quoted(text) => Value::from(text.as_str()),
        Word::Name(name) => match (name.as_str(), name.parse::<i64>()) {
            ("null", _) => Value::Null,
            ("true", _) => Value::Bool(true),
            ("false", _) => Value::Bool(false),
            (_, Ok(number)) => Value::from(number),
            (text, Err(_)) => Value::from(text),
        },
        Word::Mark(mark) => return Err(format!("`{mark}` is no value")),
    })
}

#[derive(Debug)]
enum Word {
    Name(String),
    Quoted(String),
    Mark(char),
}

fn words(line: &str) -> Result<Vec<Word>, String> {
    let mut words = Vec::new();
    let mut rest = line.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            ' ' => {}
            '"' => {
                let text: String = rest.by_ref().take_while(|c| *c != '"').collect();
                words.push(Word::Quoted(text));
            }
            ':' | '=' | ',' | '(' | ')' | '[' | ']' | '{' | '}' => words.push(Word::Mark(next)),
            _ if next.is_alphanumeric() || "_-.$".contains(next) => {
                let mut name = String::from(next);
                while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || "_-.$".contains(*c)) {
                    name.push(c);
                }
                words.push(Word::Name(name));
            }
            other => return Err(format!("`{other}` means nothing here")),
        }
    }
    Ok(words)
}

struct Reader<'a> {
    words: &'a [Word],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self, wanted: &str) -> bool {
        match self.words.get(self.at) {
            Some(Word::Name(name)) => name == wanted,
            Some(Word::Mark(mark)) => wanted.chars().eq([*mark]),
            _ => false,
        }
    }

    fn take(&mut self, wanted: &str) -> bool {
        let there = self.peek(wanted);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        if self.take(wanted) { Ok(()) } else { Err(format!("`{wanted}` is missing")) }
    }

    fn name(&mut self) -> Result<String, String> {
        match self.words.get(self.at) {
            Some(Word::Name(name) | Word::Quoted(name)) => {
                self.at += 1;
                Ok(name.clone())
            }
            Some(Word::Mark(mark)) => Err(format!("`{mark}` stands where a name should")),
            None => Err("a name is missing".into()),
        }
    }

    fn end(&self) -> Result<(), String> {
        match self.words.get(self.at) {
            None => Ok(()),
            Some(more) => Err(format!("{more:?} is too much")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_of_line_is_read() {
        let text = r#"
            // a note
            outside sink
            time 30s = 2s
            delay reaper[reclaim] = 1s
            pass 300ms
            serve
            protocol main
            ann: holder[commit(resource: r1, tags: [a, "b c"], n: -1)]
            bob under k1: holder[look] = { owner: ann, "none": null }
            bob: holder[renew(
                resource: r1,
            )] refused fenced
            await reaper[reclaim] of Resource[r1, 0]
            await sink[take] refused once
            Resource[r1] becomes { State.value: 1 }
            Resource[r2] is absent
            outside sink loses its answers
            outside sink did { record: r1 } once
            upload "some bytes" as content
            outside sink holds k1
            let s1 = sink signature
            let r1 = hash(a1, "b c")
            let r2 = Log[l1] root
            ann forgets
            crash
        "#;
        let script = parse(text).unwrap();
        assert_eq!(script.outside, ["sink"]);
        let lines: Vec<&Line> = script.lines.iter().map(|(_, line)| line).collect();
        assert_eq!(script.lines[0].0, 4, "lines are counted as they stand");
        assert_eq!(lines.len(), 21);
        let Line::Call(call) = lines[5] else { panic!("{:?}", lines[5]) };
        assert_eq!(
            Value::Object(call.params.clone()),
            json!({"resource": "r1", "tags": ["a", "b c"], "n": -1})
        );
        let Line::Call(call) = lines[6] else { panic!("{:?}", lines[6]) };
        assert_eq!(call.answer, Answer::Is(json!({"owner": "ann", "none": null})));
        let Line::Call(call) = lines[7] else { panic!("{:?}", lines[7]) };
        assert_eq!(call.answer, Answer::Refused("fenced".into()));
        assert_eq!(
            *lines[13],
            Line::Did { service: "sink".into(), body: json!({"record": "r1"}), times: 1 }
        );
        let told = lines[16..19].iter().map(|line| match line {
            Line::Let { told, .. } => told,
            other => panic!("{other:?}"),
        });
        let log = Record { subject: "Log".into(), key: vec!["l1".into()] };
        assert!(told.eq(&[
            Told::Signature("sink".into()),
            Told::Hash(vec!["a1".into(), "b c".into()]),
            Told::Truth(log, "root".into()),
        ]));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        for (text, told) in [
            ("serve\nann: holder[renew(", "line 2: a bracket stays open"),
            ("ann holder[renew]", "line 1: `:` is missing"),
            ("Resource[r1] was { a: 1 }", "line 1: `was` is neither `is` nor `becomes`"),
            ("crash twice", "line 1: Name(\"twice\") is too much"),
            ("outside sink sleeps", "line 1: nothing outside `sleeps`"),
            ("ann: holder[renew] refused", "line 1: a name is missing"),
            ("let s = sink secret", "line 1: `sink` tells no `secret`"),
        ] {
            assert_eq!(parse(text).unwrap_err(), told);
        }
    }
}
