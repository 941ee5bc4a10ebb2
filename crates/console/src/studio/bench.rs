//! The scratch store of a session: steps are tried one by one, and everything that follows can be seen.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;

use design::model::{Design, OperationKind, Type, duration_text};
use gateway::{Call, Problem, Service, kinds};
use rehearsal::{Answered, Followed, Room, Scratch, WAIT_MS_MAX};
use runtime::{CallError, Request, time};
use serde_json::{Map, Value};

use crate::answer::{self, Thought};
use crate::fields::{self, Field, Sent, sent};
use crate::html::{Html, html};
use crate::step;
use crate::value::{Place, key_parts};

/// What a form may hold besides the text.
const GIVEN_BYTES_MAX: usize = 64 << 10;
/// Records of one subject, and of all of them, that are shown.
const OF_SUBJECT: usize = 30;
const RECORDS: usize = 120;
/// What happened, newest first.
const HAPPENED: usize = 40;
/// Keys to choose from in one field.
const KNOWN: usize = 50;
const ASKED: usize = 20;

pub struct Bench {
    scratch: Scratch,
    service: Arc<Service>,
    /// of the text that it was opened with
    text: u64,
    without: Option<String>,
    happened: VecDeque<Html>,
    followed: Followed,
}

/// What somebody does.
pub enum Act<'f> {
    /// look at what is there
    Look,
    Step,
    Wait(i64),
    /// how, and what of the list that was shown
    Answer(&'f str, usize),
    Forget,
}

impl Act<'_> {
    /// What a form asks for.
    pub fn of(form: &Sent) -> Result<Act<'_>, Problem> {
        let given: usize = form
            .iter()
            .filter(|(name, _)| name != "text")
            .map(|(name, value)| name.len() + value.len())
            .sum();
        if given > GIVEN_BYTES_MAX {
            return Err(Problem::too_large("what a step is given", GIVEN_BYTES_MAX));
        }
        if let Some(answer) = sent(form, "answer") {
            let (how, at) = answer.split_once(' ').unwrap_or((answer, "0"));
            return Ok(Act::Answer(how, at.parse().unwrap_or(usize::MAX)));
        }
        let wait = match sent(form, "wait").map(str::trim) {
            Some("") => sent(form, "wait_for").map(str::trim),
            other => other,
        };
        if let Some(wait) = wait {
            let ms = time::read_duration(&Value::from(wait));
            let ms = ms.filter(|ms| (1..=WAIT_MS_MAX).contains(ms)).ok_or_else(|| {
                Problem::malformed(format!(
                    "`{wait}` is no time to wait: write `30s`, `11m` or `2d`, `{}` at most",
                    duration_text(WAIT_MS_MAX)
                ))
            })?;
            return Ok(Act::Wait(ms));
        }
        Ok(match sent(form, "do") {
            Some("step") => Act::Step,
            Some("forget") => Act::Forget,
            _ => Act::Look,
        })
    }
}

impl Bench {
    /// An empty store for a design.
    pub fn open(
        design: &Design,
        text: &str,
        without: Option<String>,
        room: Room,
    ) -> Result<Bench, Problem> {
        let scratch = Scratch::open(design, room)
            .map_err(|why| Problem::new(&kinds::CANNOT, format!("it cannot be run: {why}")))?;
        // a service without a name has no pages: nothing links to it
        let service = Service::new("", text, Arc::clone(&scratch.runtime));
        Ok(Bench {
            scratch,
            service: Arc::new(service),
            text: hash(text),
            without,
            happened: VecDeque::new(),
            followed: Followed::default(),
        })
    }

    /// Does it, and shows the store as it is then.
    pub fn act(&mut self, act: &Act<'_>, form: &Sent) -> Result<Html, Problem> {
        if !matches!(act, Act::Look)
            && let Some(full) = self.scratch.is_full()
        {
            return Err(Problem::new(
                &kinds::CANNOT,
                format!("the scratch store is full: {full}. Open another one"),
            ));
        }
        let mut filled = form.clone();
        let mut result = Html::new();
        match act {
            Act::Look => {
                if let Some(legal) = sent(form, "legal") {
                    filled = of_legal(form, legal)?;
                }
            }
            Act::Step => {
                result = self.step(form)?;
                // a record that was made is not made again under its name
                if result.as_str().contains("data-done") {
                    self.without_fresh(&mut filled);
                }
            }
            Act::Wait(ms) => {
                self.followed = self.scratch.wait(*ms);
                let mut line = Html::new();
                html!(line, "<b>{}</b> pass", duration_text(*ms));
                self.note(line);
            }
            Act::Answer(how, at) => self.answer(how, *at, form)?,
            Act::Forget => {
                let who = who(form);
                self.followed = self.scratch.forget(who);
                let mut line = Html::new();
                html!(line, "<b>{}</b> forgets everything", who);
                self.note(line);
            }
        }
        Ok(self.page(&filled, result, matches!(act, Act::Look)))
    }

    fn chosen(&self, form: &Sent) -> Option<Arc<Call>> {
        let (actor, operation) = sent(form, "step")?.split_once('/')?;
        self.service.call(actor, operation).cloned()
    }

    fn request(&self, call: &Call, form: &Sent) -> Request {
        let operation = self.service.operation(call);
        let actor = &self.service.design().actors[operation.actor.index()].name;
        let mut request = Request::new(actor, &operation.name, who(form));
        request.params = step::fields_of(&self.service, call, form);
        let key = sent(form, "key").filter(|key| !key.is_empty());
        request.idempotency_key = key.map(str::to_string);
        request
    }

    fn step(&mut self, form: &Sent) -> Result<Html, Problem> {
        let call = self.chosen(form).ok_or_else(|| Problem::unknown("choose a step first"))?;
        let request = self.request(&call, form);
        let told = step::told(self.service.operation(&call), &request.params);
        let actor = request.actor.clone();
        let (answer, followed) = self.scratch.call(request);
        self.followed = followed;
        let mut line = Html::new();
        html!(line, "<b>{}</b> as {}: {} ", who(form), actor, told);
        let result = match answer {
            Ok(reply) => {
                let said = if reply.replayed { "answered as before" } else { "done" };
                html!(line, "<span class=\"tag good\">{}</span>", said);
                answer::done(&self.service, &call, &told, &reply)
            }
            Err(error) => {
                match &error {
                    CallError::Refused(refused) => {
                        html!(line, "<span class=\"tag bad\">refused by {}</span>", refused.clause)
                    }
                    _ => html!(line, "<span class=\"tag odd\">not taken</span>"),
                }
                let problem = Problem::of_call(&self.service, error);
                answer::refused(&self.service, &call, &told, &problem)
            }
        };
        self.note(line);
        Ok(result)
    }

    fn answer(&mut self, how: &str, at: usize, form: &Sent) -> Result<(), Problem> {
        let gone = || {
            Problem::new(&kinds::CANNOT, "the world outside is not asked this any more: look again")
        };
        let asked = self.scratch.asked().into_iter().nth(at).ok_or_else(gone)?;
        if sent(form, "asked").is_some_and(|shown| shown != asked_hash(&self.scratch)) {
            return Err(gone());
        }
        let (answered, word) = match how {
            "ok" => (Answered::Ok(self.value_of(&asked.0, at, form)), "ok"),
            "refused" => (Answered::Refused, "refused"),
            "unknown" => (Answered::Unknown, "unknown"),
            _ => return Err(Problem::malformed("an answer is ok, refused or unknown")),
        };
        let (there, followed) = self.scratch.answer(&asked, &answered);
        if !there {
            return Err(gone());
        }
        self.followed = followed;
        let mut line = Html::new();
        html!(line, "the world outside answers {}: <span class=\"tag\">{}</span>", asked.0, word);
        self.note(line);
        Ok(())
    }

    /// Of which type `on ok` takes a value, if it takes one.
    fn taken(&self, effect: &str) -> Option<Type> {
        let design = self.service.design();
        let operation = design.operations.iter().find(|known| known.name == effect)?;
        let OperationKind::Effect(effect) = &operation.kind else { return None };
        Some(operation.locals[effect.on_ok.param?.index()].ty.clone())
    }

    fn value_of(&self, effect: &str, at: usize, form: &Sent) -> Value {
        let read = self.taken(effect).and_then(|ty| {
            fields::read(self.service.design(), &format!("a.{at}"), &ty, true, form)
        });
        read.unwrap_or(Value::Null)
    }

    /// Keeps a line of what was done, with what followed.
    fn note(&mut self, mut line: Html) {
        for said in &self.followed.meanwhile {
            html!(line, "<br><span class=\"faint\">then by itself: {}</span>", said);
        }
        for goal in &self.followed.broken {
            html!(line, "<br><span class=\"bad\">broken: {}</span>", goal);
        }
        self.happened.push_front(line);
        self.happened.truncate(HAPPENED);
    }

    fn without_fresh(&self, filled: &mut Sent) {
        let Some(call) = self.chosen(filled) else { return };
        let new = self.service.operation(&call).params.iter().filter(|param| param.new);
        let names: Vec<String> = new.map(|param| format!("p.{}", param.name)).collect();
        filled.retain(|(name, _)| !names.contains(name));
    }

    /// How the guard of the chosen step stands.
    pub fn guard(&self, form: &Sent) -> Html {
        let Some(call) = self.chosen(form) else { return Html::new() };
        let service = &self.service;
        if service.operation(&call).has_secrets() {
            return answer::guard(service, &call, &Thought::Secret);
        }
        match self.scratch.would(self.request(&call, form)) {
            Ok(()) => answer::guard(service, &call, &Thought::Holds),
            Err(CallError::Refused(refused)) => {
                answer::guard(service, &call, &Thought::Refused(&refused))
            }
            Err(CallError::Bad(bad)) => {
                let field = bad.pointer.rsplit('/').next().unwrap_or_default().to_string();
                answer::guard(service, &call, &Thought::Unfit(&field, &bad.message))
            }
            Err(_) => answer::guard(service, &call, &Thought::NotYet),
        }
    }

    fn page(&self, form: &Sent, result: Html, looks: bool) -> Html {
        let mut page = Html::new();
        let without = self.without.as_ref();
        html!(
            page,
            "<p>A scratch store of <strong>{}</strong>{}, {}, {} in its feed.</p>",
            self.service.design().name,
            without.map_or(String::new(), |clause| format!(" without {clause}")),
            match self.scratch.passed_ms() {
                0 => "as it was opened".to_string(),
                ms => format!("{} after it was opened", duration_text(ms)),
            },
            super::said::some(self.scratch.transitions(), "transition")
        );
        if sent(form, "text").is_some_and(|text| hash(text) != self.text) {
            html!(
                page,
                "<p class=\"note odd\">The text was changed since: the store runs the earlier one. Open it anew to \
                 try the text as it is now.</p>"
            );
        }
        for goal in &self.followed.broken {
            html!(
                page,
                "<p class=\"note bad\" role=\"alert\" data-broken>The goal <code>{}</code> is broken now.</p>",
                goal
            );
        }
        if let Some(why) = self.scratch.unjudged() {
            html!(page, "<p class=\"hint\">Goals are not looked at here: {}.</p>", why);
        }
        html!(page, "<div class=\"two\"><section class=\"card\" aria-label=\"A step\">");
        self.form(&mut page, form);
        html!(
            page,
            "</section><div class=\"column\"><div id=\"bench-result\" tabindex=\"-1\">{}",
            result
        );
        if !looks && !self.followed.meanwhile.is_empty() {
            html!(page, "<div class=\"note\"><h3>Then, by itself</h3><ul class=\"plain\">");
            for line in &self.followed.meanwhile {
                html!(page, "<li>{}</li>", line);
            }
            html!(page, "</ul></div>");
        }
        html!(page, "</div>");
        self.outside(&mut page);
        clock(&mut page);
        html!(page, "</div></div>");
        self.records(&mut page);
        self.told(&mut page);
        page
    }

    /// Which step, by whom, with what.
    fn form(&self, page: &mut Html, form: &Sent) {
        let service = &self.service;
        let chosen = self.chosen(form);
        html!(
            page,
            "<div class=\"field\"><label for=\"step\">step</label><select id=\"step\" name=\"step\">\
             <option value=\"\">choose one</option>"
        );
        let mut group = "";
        for (actor, operation, call) in service.calls() {
            if actor != group {
                html!(
                    page,
                    "{}<optgroup label=\"{}\">",
                    Html::trusted(if group.is_empty() { "" } else { "</optgroup>" }.into()),
                    actor
                );
                group = actor;
            }
            let selected =
                if chosen.as_ref().is_some_and(|one| one.id == call.id) { " selected" } else { "" };
            html!(
                page,
                "<option value=\"{}/{}\"{}>{}</option>",
                actor,
                operation,
                Html::trusted(selected.into()),
                operation
            );
        }
        html!(
            page,
            "{}</select></div><button class=\"button second\" name=\"do\" value=\"choose\" formnovalidate \
             data-plain>Choose</button>",
            Html::trusted(if group.is_empty() { "" } else { "</optgroup>" }.into())
        );
        let Some(call) = chosen else { return };
        let operation = service.operation(&call);
        html!(
            page,
            "<div class=\"field\"><label for=\"as\">who <span class=\"hint\">the principal that acts; \
             <code>me</code> in the design</span></label><input id=\"as\" name=\"as\" value=\"{}\" \
             maxlength=\"256\" autocomplete=\"off\" spellcheck=\"false\"></div>",
            who(form)
        );
        let design = service.design();
        for param in operation.params.iter().filter(|param| param.generated.is_none()) {
            let mut field = Field::of(design, param);
            if let (Some(subject), false) = (param.ty.subject(), param.new) {
                let name = &design.subjects[subject.index()].name;
                let known = self.scratch.records(name, KNOWN).records;
                field.known = known.iter().map(|(key, _)| key_parts(key)).collect();
            }
            field.show(page, form);
        }
        if let OperationKind::Step { keyed } = operation.kind {
            step::key(page, form, keyed);
        }
        let reads = matches!(operation.kind, OperationKind::Read { .. });
        html!(
            page,
            "<div class=\"actions\"><button class=\"button\" name=\"do\" value=\"step\">{}</button>\
             <button class=\"quiet\" name=\"do\" value=\"forget\" formnovalidate title=\"As after a crash: \
             what an earlier answer told it to remember is gone\">Let it forget</button></div>\
             <h3>Guard</h3><div id=\"bench-guard\" aria-live=\"polite\">{}</div>",
            if reads { "Read" } else { "Do it" },
            self.guard(&fields::suggested(design, operation, form))
        );
    }

    /// What the world outside is asked.
    fn outside(&self, page: &mut Html) {
        let asked = self.scratch.asked();
        let is_effect = |kind: &OperationKind| matches!(kind, OperationKind::Effect(_));
        if !self.service.design().operations.iter().any(|it| is_effect(&it.kind)) {
            return;
        }
        html!(page, "<section class=\"card\"><h3>Asked of the world outside</h3>");
        if asked.is_empty() {
            html!(page, "<p class=\"faint\">Nothing waits for an answer.</p></section>");
            return;
        }
        html!(
            page,
            "<input type=\"hidden\" name=\"asked\" value=\"{}\"><ul class=\"asked\">",
            asked_hash(&self.scratch)
        );
        for (at, (effect, args)) in asked.iter().take(ASKED).enumerate() {
            html!(page, "<li><p><b>{}</b> <code>{}</code></p>", effect, arguments(args));
            if let Some(ty) = self.taken(effect) {
                html!(
                    page,
                    "<div class=\"field\"><label for=\"a.{}\">what it answers with <span class=\"hint\">{}, if \
                     it is ok</span></label><input id=\"a.{}\" name=\"a.{}\" autocomplete=\"off\"></div>",
                    at,
                    fields::type_text(self.service.design(), ty.required()),
                    at,
                    at
                );
            }
            html!(page, "<p class=\"choices\">");
            for how in ["ok", "refused", "unknown"] {
                html!(
                    page,
                    "<button class=\"button second\" name=\"answer\" value=\"{} {}\" formnovalidate \
                     aria-label=\"{} answers {}\">{}</button> ",
                    how,
                    at,
                    effect,
                    how,
                    how
                );
            }
            html!(page, "</p></li>");
        }
        html!(page, "</ul></section>");
    }

    /// Every record as it is.
    fn records(&self, page: &mut Html) {
        let design = self.service.design();
        let place = Place { name: "", design };
        let mut left = RECORDS;
        let mut all = Vec::new();
        let mut more = false;
        for subject in &design.subjects {
            let found = self.scratch.records(&subject.name, OF_SUBJECT.min(left));
            left -= found.records.len();
            more |= found.more;
            let told = found.records.into_iter().map(|(key, held)| {
                serde_json::json!({ "subject": subject.name, "key": key, "truth": held.truth })
            });
            all.extend(told);
        }
        html!(page, "<h3>Records</h3>");
        if all.is_empty() {
            html!(page, "<p class=\"empty\">There are none yet.</p>");
            return;
        }
        html!(page, "<div class=\"cards\" data-records>");
        answer::records_told(page, &place, &all);
        html!(page, "</div>");
        if more {
            html!(page, "<p class=\"hint\">There are more than are shown.</p>");
        }
    }

    fn told(&self, page: &mut Html) {
        if self.happened.is_empty() {
            return;
        }
        html!(page, "<h3>What was done, newest first</h3><ul class=\"happened\">");
        for line in &self.happened {
            html!(page, "<li>{}</li>", line);
        }
        html!(page, "</ul>");
    }
}

fn clock(page: &mut Html) {
    html!(page, "<section class=\"card\"><h3>Time</h3><p class=\"choices\">");
    for (wait, label) in [
        ("1s", "1 second later"),
        ("1m", "1 minute later"),
        ("11m", "11 minutes later"),
        ("1d", "1 day later"),
    ] {
        html!(
            page,
            "<button class=\"button second\" name=\"wait\" value=\"{}\" formnovalidate>{}</button> ",
            wait,
            label
        );
    }
    html!(
        page,
        "</p><div class=\"inline\"><div class=\"field\"><label for=\"wait_for\">or this much <span \
         class=\"hint\">30s, 11m, 2d</span></label><input id=\"wait_for\" name=\"wait_for\" \
         autocomplete=\"off\"></div><button class=\"button second\" name=\"wait\" value=\"\" \
         formnovalidate>Later</button></div></section>"
    );
}

fn who(form: &Sent) -> &str {
    sent(form, "as").map(str::trim).filter(|name| (1..=256).contains(&name.len())).unwrap_or("ann")
}

fn arguments(args: &Map<String, Value>) -> String {
    let mut text = String::new();
    for (name, value) in args {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{name}: {value}");
    }
    text
}

/// Whether a list is the one that was shown.
fn asked_hash(scratch: &Scratch) -> String {
    let mut text = String::new();
    for (name, args) in scratch.asked() {
        let _ = write!(text, "{name} {}", Value::Object(args));
    }
    format!("{:016x}", hash(&text))
}

fn hash(text: &str) -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // a browser sends its line ends in its own way
    let mut hasher = rustc_hash::FxBuildHasher.build_hasher();
    text.lines().for_each(|line| {
        hasher.write(line.as_bytes());
        hasher.write_u8(0);
    });
    hasher.finish()
}

/// `buyer/hold?p.seat=A1`: a form with what is legal.
fn of_legal(form: &Sent, legal: &str) -> Result<Sent, Problem> {
    let (step, filled) = legal.split_once('?').unwrap_or((legal, ""));
    let keeps = |name: &str| !name.starts_with("p.") && name != "step" && name != "legal";
    let mut all: Sent = form.iter().filter(|(name, _)| keeps(name)).cloned().collect();
    all.push(("step".into(), step.into()));
    all.extend(server::path::query(filled)?.into_iter().filter(|(name, _)| name.starts_with("p.")));
    Ok(all)
}
