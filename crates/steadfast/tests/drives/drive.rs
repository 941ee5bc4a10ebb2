//! Drives a served design through a script, and tells where the two part.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use design::model::{ClauseRef, Design, Path, Protocol};
use engine::HashPart;
use runtime::proofs;
use serde_json::{Map, Value};
use ureq::Agent;

use crate::drives::answers::Answers;
use crate::drives::followed::{Followed, Seen};
use crate::drives::script::{Answer, Call, Line, Operation, Record, Script, Told};
use crate::drives::served::{PATIENCE, Served, agent};
use crate::drives::world::Service;

/// The feed tells of a transition so long after its truth can be read.
const FEED_LAG: Duration = Duration::from_secs(5);

/// Of one principal, at one record.
type MemoryPlace = (String, String, String);

pub struct Drive<'a> {
    text: &'a str,
    design: Design,
    script: &'a Script,
    folder: PathBuf,
    agent: Agent,
    longer: u32,
    times: Vec<(String, String)>,
    delays: Vec<(Operation, String)>,
    served: Option<Served>,
    outside: HashMap<String, Service>,
    followed: Followed,
    /// where the protocol that is driven begins among what was seen
    section: Option<(String, usize)>,
    /// what was waited for and came
    awaited: HashSet<usize>,
    memory: HashMap<MemoryPlace, Value>,
    /// what is written `$name`
    named: HashMap<String, String>,
    /// what was answered, to be held against the document of the server
    answers: RefCell<Answers>,
    pub protocols: Vec<String>,
}

impl<'a> Drive<'a> {
    /// With the times of the script so many times as long.
    pub fn new(
        text: &'a str,
        script: &'a Script,
        folder: PathBuf,
        longer: u32,
    ) -> Result<Drive<'a>, String> {
        let design = steadfast::load("driven", text).map_err(|error| error.to_string())?;
        let mut outside = HashMap::new();
        for name in &script.outside {
            outside.insert(name.clone(), Service::start().map_err(|error| error.to_string())?);
        }
        Ok(Drive {
            text,
            design,
            script,
            folder,
            agent: agent(),
            longer,
            times: Vec::new(),
            delays: Vec::new(),
            served: None,
            outside,
            followed: Followed::patient(PATIENCE * longer),
            section: None,
            awaited: HashSet::new(),
            memory: HashMap::new(),
            named: HashMap::new(),
            answers: RefCell::default(),
            protocols: Vec::new(),
        })
    }

    pub fn run(&mut self) -> Result<(), String> {
        for (number, line) in &self.script.lines {
            self.line(line).map_err(|wrong| format!("line {number}: {wrong}"))?;
        }
        self.end_section()?;
        self.answers.borrow().keep(&self.folder, self.followed.told())
    }

    fn line(&mut self, line: &Line) -> Result<(), String> {
        match line {
            Line::Protocol(name) => {
                self.end_section()?;
                self.section = Some((name.clone(), self.followed.all().len()));
            }
            Line::Time(from, to) => {
                self.times.retain(|(known, _)| known != from);
                self.times.push((from.clone(), times(to, self.longer)?));
            }
            Line::Delay(operation, by) => {
                self.delays.retain(|(known, _)| known != operation);
                self.delays.push((operation.clone(), times(by, self.longer)?));
            }
            Line::Pass(ms) => std::thread::sleep(Duration::from_millis(*ms) * self.longer),
            Line::Start => self.start()?,
            Line::Call(call) => self.call(call)?,
            Line::Await { operation, record } => self.wait(operation, record.as_ref())?,
            Line::AwaitRefusal { operation, clause } => self.refused(operation, clause)?,
            Line::Truth { record, now, is } => self.truth(record, *now, is.as_ref())?,
            Line::View { view, params, is } => self.view(view, params, is)?,
            Line::Outside(name, manner) => self.service(name)?.behave(*manner),
            Line::Did { service, body, times } => self.did(service, body, *times)?,
            Line::Upload { content, name } => {
                let sent = self.agent.post(format!("{}/blobs", self.url()?));
                let sent = sent.content_type("application/octet-stream").send(content.as_bytes());
                let (status, answer) = told(sent)?;
                let digest = answer["digest"].as_str().ok_or(format!("{status} {answer}"))?;
                self.named.insert(name.clone(), digest.to_string());
            }
            Line::Let { name, told } => {
                let told = self.told(told)?;
                self.named.insert(name.clone(), told);
            }
            Line::Holds { service, key } => {
                let public = self.service(service)?.hold(key);
                self.named.insert(key.clone(), public);
            }
            Line::Forget(who) => self.memory.retain(|(of, _, _), _| of != who),
        }
        Ok(())
    }

    fn url(&self) -> Result<&str, String> {
        self.served.as_ref().map(|served| served.url.as_str()).ok_or("nothing is served".into())
    }

    fn service(&self, name: &str) -> Result<&Service, String> {
        self.outside.get(name).ok_or(format!("there is no `{name}` outside"))
    }

    /// A crash comes before every start but the first: the store is what was durable.
    fn start(&mut self) -> Result<(), String> {
        if let Some(mut served) = self.served.take() {
            served.kill();
        }
        let text = with_delays(&with_times(self.text, &self.times)?, &self.delays)?;
        let file = self.folder.join("driven.design");
        std::fs::write(file, text).map_err(|error| error.to_string())?;
        let mut words: Vec<String> = Vec::new();
        for (name, service) in &self.outside {
            words.extend(["--outside".into(), format!("{name}={}", service.url)]);
        }
        words.extend(["--outside-attempts", "2", "--outside-timeout", "5"].map(String::from));
        let served = Served::start(&self.folder, "driven.design", &words)?;
        let server = served.url.split("/v1/").next().unwrap_or_default();
        let (_, document) = told(self.agent.get(format!("{server}/openapi.json")).call())?;
        self.answers.borrow_mut().describe(document);
        self.followed.follow(&served.url);
        self.served = Some(served);
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Result<(), String> {
        let Operation { actor, name } = &call.operation;
        let params = self.spelled_out(&Value::Object(call.params.clone()))?;
        let Value::Object(mut body) = params else { return Err("no parameters".into()) };
        let places = self.places(call, &body)?;
        for (name, place) in &places {
            if let Some(held) = self.memory.get(place) {
                body.insert(name.clone(), held.clone());
            }
        }
        let mut request = self.agent.post(format!("{}/{actor}/{name}", self.url()?));
        request = request.header("steadfast-as", &call.who);
        if let Some(key) = &call.key {
            request = request.header("idempotency-key", format!("\"{key}\""));
        }
        let before = self.followed.all().len();
        let (status, answer) =
            told(request.content_type("application/json").send(Value::Object(body).to_string()))?;
        let url = format!("{}/{actor}/{name}", self.url()?);
        self.answers.borrow_mut().note("POST", &url, status, &answer);
        let wrong = || Err(format!("answered {status} {answer}"));
        match &call.answer {
            Answer::Refused(clause) => {
                if status != 409 || answer["guard"] != clause.as_str() {
                    return wrong();
                }
                self.followed.tell(call.operation.clone(), Some(clause.clone()));
                return Ok(());
            }
            _ if status != 200 => return wrong(),
            Answer::Is(expected) if !fits(&self.spelled_out(expected)?, &answer["result"]) => {
                return wrong();
            }
            Answer::Is(_) | Answer::Done | Answer::Replayed => {}
        }
        let replayed = answer["replayed"] == true;
        if replayed != (call.answer == Answer::Replayed) {
            return wrong();
        }
        for (name, place) in places {
            if let Some(handed_out) = answer["memory"].get(&name) {
                self.memory.insert(place, handed_out.clone());
            }
        }
        let is_read = self.design.operations.iter().any(|operation| {
            operation.name == *name
                && self.design.actors[operation.actor.index()].name == *actor
                && matches!(operation.kind, design::model::OperationKind::Read { .. })
        });
        let changed = answer["truth"].as_array().is_some_and(|truth| !truth.is_empty());
        let revision = answer["revision"].as_str().unwrap_or_default();
        if is_read || !replayed && !changed {
            self.followed.tell(call.operation.clone(), None);
        } else if !replayed && !self.followed.reached(before, revision) {
            return Err(format!("the feed does not tell of {revision}"));
        }
        Ok(())
    }

    /// The memory of a call: its name there, and where it is kept between calls.
    fn places(
        &self,
        call: &Call,
        params: &Map<String, Value>,
    ) -> Result<Vec<(String, MemoryPlace)>, String> {
        let design = &self.design;
        let Operation { actor, name } = &call.operation;
        let operation = design.operations.iter().find(|operation| {
            operation.name == *name && design.actors[operation.actor.index()].name == *actor
        });
        let operation = operation.ok_or(format!("the design has no `{actor}[{name}]`"))?;
        let places = operation.memory.iter().map(|used| {
            let of = &design.actors[used.actor.index()];
            let field = format!("{}.{}", of.name, of.memory[used.field.index()].name);
            let record = used.of.map(|local| &operation.locals[local.index()].name);
            let record = record.and_then(|name| params.get(name)).map(Value::to_string);
            let place = (call.who.clone(), field, record.unwrap_or_default());
            (runtime::memory_name(design, operation, used), place)
        });
        Ok(places.collect())
    }

    fn wait(&mut self, operation: &Operation, record: Option<&Record>) -> Result<(), String> {
        let from = self.section.as_ref().map_or(0, |(_, from)| *from);
        let awaited = &self.awaited;
        let found = self.followed.find(from, |at, seen| {
            let touches = record.is_none_or(|record| seen.changed.contains(record));
            seen.operation == *operation
                && seen.refused.is_none()
                && touches
                && !awaited.contains(&at)
        });
        match found {
            Some(at) => {
                self.awaited.insert(at);
                Ok(())
            }
            None => {
                let seen = spelled(&self.followed.all()[from..]);
                let ended = self.followed.ended().map(|why| format!("; the feed ended: {why}"));
                let ended = ended.unwrap_or_default();
                Err(format!("it does not happen; what happened: {seen}{ended}"))
            }
        }
    }

    /// The feed tells of nothing that changes nothing; what is refused is counted.
    fn refused(&self, operation: &Operation, clause: &str) -> Result<(), String> {
        let Operation { actor, name } = operation;
        let counted = format!(
            "actor=\"{actor}\",operation=\"{name}\",outcome=\"refused\",clause=\"{clause}\""
        );
        let server = self.url()?.split("/v1/").next().unwrap_or_default();
        self.until(&format!("{server}/metrics"), false, |_, metrics| {
            metrics.as_str().is_some_and(|metrics| metrics.contains(&counted))
        })?;
        self.followed.tell(operation.clone(), Some(clause.to_string()));
        Ok(())
    }

    fn truth(&self, record: &Record, now: bool, is: Option<&Value>) -> Result<(), String> {
        let expected = is.map(|is| self.spelled_out(is)).transpose()?;
        self.until(&self.url_of(record)?, now, |status, answer| match &expected {
            None => status == 404,
            Some(expected) => status == 200 && fits(expected, &answer["truth"]),
        })
    }

    fn url_of(&self, record: &Record) -> Result<String, String> {
        let mut url = format!("{}/{}", self.url()?, record.subject);
        for part in &record.key {
            let part = part.as_str().map_or_else(|| part.to_string(), str::to_string);
            url.push_str(&format!("/{part}"));
        }
        Ok(url)
    }

    /// What somebody who looks, or calculates, would know by now.
    fn told(&self, what: &Told) -> Result<String, String> {
        match what {
            Told::Hash(texts) => {
                let parts = vec![HashPart::Text; texts.len()];
                let words: Vec<i64> = (0..).take(texts.len()).collect();
                let hash = proofs::hash(&parts, &words, &|word| texts[word as usize].as_bytes());
                Ok(hash.to_hex().to_string())
            }
            Told::Signature(service) | Told::Digest(service) => {
                let signed = self.service(service)?.signed();
                let (digest, signature) = signed.ok_or(format!("`{service}` signed nothing"))?;
                Ok(if matches!(what, Told::Digest(_)) { digest } else { signature })
            }
            Told::Truth(record, attribute) => {
                let (status, answer) = told(self.agent.get(self.url_of(record)?).call())?;
                let states = answer["truth"].as_object();
                let found = states.and_then(|truth| {
                    truth.values().find_map(|state| state.get(attribute)?.as_str())
                });
                found.map(str::to_string).ok_or(format!("it is {status} {answer}"))
            }
        }
    }

    fn view(&self, view: &str, params: &Map<String, Value>, is: &Value) -> Result<(), String> {
        let mut url = format!("{}/views/{view}?", self.url()?);
        for (name, value) in params {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            url.push_str(&format!("{name}={value}&"));
        }
        let url = url.trim_end_matches(['&', '?']);
        self.until(url, false, |status, answer| status == 200 && fits(is, answer))
    }

    /// Asks once, or until it is so.
    fn until(
        &self,
        url: &str,
        now: bool,
        is_so: impl Fn(u16, &Value) -> bool,
    ) -> Result<(), String> {
        let until = Instant::now() + PATIENCE * self.longer;
        loop {
            let (status, answer) = told(self.agent.get(url).call())?;
            if is_so(status, &answer) {
                if url.contains("/v1/") {
                    self.answers.borrow_mut().note("GET", url, status, &answer);
                }
                return Ok(());
            }
            if now || Instant::now() > until {
                return Err(format!("it is {status} {answer}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn did(&self, service: &str, body: &Value, times: usize) -> Result<(), String> {
        let done = self.service(service)?.done();
        let like = done.iter().filter(|done| fits(body, done)).count();
        if like == times { Ok(()) } else { Err(format!("it was done {like} times: {done:?}")) }
    }

    /// With what is named by `$name`, alone or within a word.
    fn spelled_out(&self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) => {
                let mut parts = text.split('$');
                let mut out = parts.next().unwrap_or_default().to_string();
                for part in parts {
                    let end = part.find(|c: char| !c.is_alphanumeric() && c != '_');
                    let (name, rest) = part.split_at(end.unwrap_or(part.len()));
                    let named = self.named.get(name);
                    out.push_str(named.ok_or(format!("nothing is named `${name}`"))?);
                    out.push_str(rest);
                }
                out.into()
            }
            Value::Array(list) => {
                let list = list.iter().map(|value| self.spelled_out(value));
                Value::Array(list.collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => {
                let fields = fields.iter();
                let fields =
                    fields.map(|(name, value)| Ok((name.clone(), self.spelled_out(value)?)));
                Value::Object(fields.collect::<Result<_, String>>()?)
            }
            other => other.clone(),
        })
    }

    /// Everything that the protocol consists of was seen, in its order.
    fn end_section(&mut self) -> Result<(), String> {
        let Some((name, from)) = self.section.take() else { return Ok(()) };
        let found = self.design.protocols.iter().find(|protocol| protocol.name == name);
        let protocol = found.ok_or(format!("the design has no protocol `{name}`"))?;
        // what is read in the truth may be there before the feed has told how it came about
        let mut missing = None;
        let walked = self.followed.until(FEED_LAG * self.longer, |seen| {
            missing = not_walked(&self.design, protocol, &seen[from..]);
            missing.is_none()
        });
        if !walked {
            let path = missing.unwrap_or_default();
            let seen = spelled(&self.followed.all()[from..]);
            return Err(format!("protocol {name}: `{path}` was not walked; what happened: {seen}"));
        }
        self.protocols.push(name);
        Ok(())
    }
}

/// The first path of a protocol that is not among what happened.
fn not_walked(design: &Design, protocol: &Protocol, seen: &[Seen]) -> Option<String> {
    let mut paths: Vec<&Path> = protocol.paths.iter().collect();
    while let Some(path) = paths.pop() {
        paths.extend(&path.branches);
        let steps: Vec<(Operation, Option<String>)> =
            path.steps.iter().map(|step| step_of(design, step)).collect();
        let mut rest = seen.iter();
        let walked = steps.iter().all(|(operation, refused)| {
            rest.any(|seen| seen.operation == *operation && seen.refused == *refused)
        });
        if !walked {
            let steps =
                steps.iter().map(|(operation, refused)| spell(operation, refused.as_deref()));
            return Some(steps.collect::<Vec<_>>().join(" -> "));
        }
    }
    None
}

fn step_of(design: &Design, step: &design::model::PathStep) -> (Operation, Option<String>) {
    let operation = &design.operations[step.operation.index()];
    let refused = step.refused.map(|clause| match clause {
        ClauseRef::Exists => "exists".to_string(),
        ClauseRef::Fresh => "fresh".to_string(),
        ClauseRef::Named(at) => operation.guard[at as usize].name.clone(),
    });
    let actor = design.actors[operation.actor.index()].name.clone();
    (Operation { actor, name: operation.name.clone() }, refused)
}

fn spell(operation: &Operation, refused: Option<&str>) -> String {
    let Operation { actor, name } = operation;
    match refused {
        Some(clause) => format!("{actor}[{name}] refused {clause}"),
        None => format!("{actor}[{name}]"),
    }
}

fn spelled(seen: &[Seen]) -> String {
    let all = seen.iter().map(|seen| spell(&seen.operation, seen.refused.as_deref()));
    all.collect::<Vec<_>>().join(", ")
}

/// Status and body, and of a replayed answer that it is one.
fn told(
    answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
) -> Result<(u16, Value), String> {
    let mut answer = answer.map_err(|error| format!("no answer: {error}"))?;
    let text = answer.body_mut().read_to_string().map_err(|error| error.to_string())?;
    let mut body: Value = serde_json::from_str(&text).unwrap_or(Value::from(text));
    if answer.headers().contains_key("idempotency-replayed") {
        body["replayed"] = true.into();
    }
    Ok((answer.status().as_u16(), body))
}

/// Is everything there that is expected? Of an object more may be there. An attribute may be named
/// without its state.
pub fn fits(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Object(fields), Value::Object(there)) => fields.iter().all(|(name, value)| {
            let within = match name.split_once('.') {
                Some((state, attribute)) => there.get(state).and_then(|state| state.get(attribute)),
                None => there.get(name).or_else(|| {
                    there.values().find_map(|state| state.as_object().and_then(|s| s.get(name)))
                }),
            };
            match within {
                Some(within) => fits(value, within),
                None => value.is_null(),
            }
        }),
        (Value::Array(list), Value::Array(there)) => {
            list.len() == there.len() && list.iter().zip(there).all(|(e, f)| fits(e, f))
        }
        // a reference to a record with a key of one part is that part, or a list of it
        (Value::String(_) | Value::Number(_), Value::Array(there)) => {
            matches!(&there[..], [only] if only == expected)
        }
        _ => expected == found,
    }
}

/// The text with other lengths of time, so that what takes a day takes a second.
/// `100ms`, five times as long: `500ms`
fn times(duration: &str, longer: u32) -> Result<String, String> {
    let digits = duration.find(|c: char| !c.is_ascii_digit()).unwrap_or(duration.len());
    let (number, unit) = duration.split_at(digits);
    let number: u64 = number.parse().map_err(|_| format!("`{duration}` is no duration"))?;
    Ok(format!("{}{unit}", number * u64::from(longer)))
}

fn with_times(text: &str, times: &[(String, String)]) -> Result<String, String> {
    let mut text = text.to_string();
    for (from, to) in times {
        let mut out = String::new();
        let mut rest = text.as_str();
        let mut found = false;
        while let Some(at) = rest.find(from.as_str()) {
            let (before, after) = (&rest[..at], &rest[at + from.len()..]);
            let part_of_a_word = |c: char| c.is_alphanumeric() || c == '_';
            let alone = !before.ends_with(part_of_a_word) && !after.starts_with(part_of_a_word);
            found |= alone;
            out.push_str(before);
            out.push_str(if alone { to } else { from });
            rest = after;
        }
        if !found {
            return Err(format!("the design has no `{from}`"));
        }
        text = out + rest;
    }
    Ok(text)
}

/// The text with repairs that wait before they come: `after 2s` behind the guard.
fn with_delays(text: &str, delays: &[(Operation, String)]) -> Result<String, String> {
    let mut text = text.to_string();
    for (Operation { actor, name }, by) in delays {
        let begins = text.find(&format!("repair {actor}[{name}("));
        let begins = begins.ok_or(format!("the design has no repair `{actor}[{name}]`"))?;
        let mut open = 0;
        let end = text[begins..].char_indices().find_map(|(at, c)| {
            open += i32::from(c == '[') - i32::from(c == ']');
            (c == ']' && open == 0).then_some(begins + at + 1)
        });
        let end = end.ok_or(format!("the head of `{actor}[{name}]` does not end"))?;
        text.insert_str(end, &format!(" after {by}"));
    }
    Ok(text)
}
