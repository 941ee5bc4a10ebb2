//! The form of one step: who acts, its parameters, what it remembers; beside it its guard.

use design::model::{MemoryUse, Operation, OperationKind, Param, SubjectId};
use serde_json::{Map, Value};

use crate::answer::{self, Thought};
use crate::fields::{self, Field, Sent, sent};
use crate::html::{Html, encoded, html};
use crate::look;
use crate::seen::Seen;
use crate::shell::{self, Tab};
use crate::value::{Place, key_parts, key_text};
use crate::visit::Visit;
use gateway::{Call, Service};

/// Keys to choose from in one field.
const KNOWN: usize = 50;

/// What is shown besides the empty form.
#[derive(Default)]
pub struct Shown {
    /// what the form holds
    pub form: Sent,
    /// how the guard stands
    pub guard: Option<Html>,
    /// what became of the call
    pub result: Option<Html>,
    /// the field that does not fit, and why
    pub wrong: Option<(String, String)>,
}

pub async fn page(visit: &Visit, service: &Service, call: &Call, shown: Shown) -> Html {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let operation = service.operation(call);
    let actor = &design.actors[operation.actor.index()].name;
    let name = format!("{actor}[{}]", operation.name);
    let seen = service.kept::<Seen>();
    let sheet = seen.sheet(design);
    let derived = sheet.operations.iter().find(|one| one.name == name);
    let mut page = Html::new();
    html!(
        page,
        "<p class=\"crumbs\"><a href=\"{}\">Steps</a> / {}</p><h1>{}</h1><p class=\"lead\">{}</p>",
        place.at("/steps"),
        actor,
        operation.name,
        derived.map(|one| one.phrase.as_str()).unwrap_or_default()
    );
    html!(
        page,
        "<div id=\"result\" tabindex=\"-1\" aria-live=\"polite\">{}</div><div class=\"two\">",
        shown.result.unwrap_or_default()
    );
    form(&mut page, visit, service, call, &shown.form, shown.wrong.as_ref()).await;
    html!(page, "<section class=\"card\" aria-label=\"Guard\"><h2>Guard</h2>");
    html!(page, "<div id=\"guard\" aria-live=\"polite\">");
    match shown.guard {
        Some(guard) => page.add(guard),
        None => page.add(answer::guard(service, call, &Thought::NotYet)),
    }
    html!(page, "</div></section></div>");
    writes(&mut page, service, &name);
    shell::of_design(visit, service, Tab::Steps, &operation.name, &page)
}

async fn form(
    page: &mut Html,
    visit: &Visit,
    service: &Service,
    call: &Call,
    given: &Sent,
    wrong: Option<&(String, String)>,
) {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let operation = service.operation(call);
    let actor = &design.actors[operation.actor.index()].name;
    let tail = format!("/{}/{}", encoded(actor), encoded(&operation.name));
    let would = place.at(&format!("/would{tail}"));
    html!(
        page,
        "<form class=\"card\" method=\"post\" action=\"{}\" data-step data-would=\"{}\" \
         data-design=\"{}\" data-principal=\"{}\">",
        place.at(&format!("/step{tail}")),
        would,
        service.name,
        visit.caller.principal
    );
    html!(page, "<h2>{} <span class=\"hint\">by {}</span></h2>", operation.name, actor);
    if visit.signed_in {
        html!(
            page,
            "<p class=\"hint\">You are <strong>{}</strong>, by your token.</p>",
            visit.caller.principal
        );
        if !visit.caller.may_act_as(service, actor) {
            html!(
                page,
                "<p class=\"note odd\">Your token does not have the role <code>{}</code>.</p>",
                actor
            );
        }
    } else {
        html!(
            page,
            "<div class=\"field\"><label for=\"as\">who <span class=\"hint\">the principal that acts; \
             <code>me</code> in the design</span></label><input id=\"as\" name=\"as\" value=\"{}\" \
             maxlength=\"256\" required autocomplete=\"off\" spellcheck=\"false\"></div>",
            sent(given, "as").unwrap_or(&visit.caller.principal)
        );
    }
    for param in operation.params.iter().filter(|param| param.generated.is_none()) {
        let mut field = Field::of(design, param);
        if let (Some(subject), false) = (param.ty.subject(), param.new) {
            field.known = known(visit, service, subject).await;
        }
        if let Some((name, why)) = wrong
            && *name == param.name
        {
            field.wrong = Some(why);
        }
        field.show(page, given);
    }
    for used in operation.memory.iter().filter(|used| used.read) {
        memory(page, service, operation, used, given, wrong);
    }
    let keyed = matches!(operation.kind, OperationKind::Step { keyed: true });
    if keyed || matches!(operation.kind, OperationKind::Step { .. }) {
        key(page, given, keyed);
    }
    let reads = matches!(operation.kind, OperationKind::Read { .. });
    html!(
        page,
        "<div class=\"actions\"><button class=\"button\" type=\"submit\">{}</button>",
        if reads { "Read" } else { "Do it" },
    );
    // what a guard says of a secret is not told
    let asks = |param: &Param| param.ty.is_secret() && param.generated.is_none();
    if !operation.params.iter().any(asks) {
        html!(
            page,
            "<button class=\"button second\" formaction=\"{}\" formnovalidate>Look at the guard</button>",
            would
        );
    }
    html!(page, "</div></form>");
}

/// Keys of records that are there, in parts.
async fn known(visit: &Visit, service: &Service, subject: SubjectId) -> Vec<Vec<String>> {
    let name = &service.design().subjects[subject.index()].name;
    let listed = look::records(visit, service, name, None, KNOWN).await;
    let records = listed.map(|page| page.records).unwrap_or_default();
    records.iter().map(|(key, _)| key_parts(key)).collect()
}

pub fn key(page: &mut Html, given: &Sent, keyed: bool) {
    let value = sent(given, "key").unwrap_or_default();
    if keyed {
        html!(
            page,
            "<div class=\"field\"><label for=\"key\">idempotency key <span class=\"hint\">the same \
             when you try again</span></label><input id=\"key\" name=\"key\" value=\"{}\" required \
             maxlength=\"255\" autocomplete=\"off\"></div>",
            value
        );
    } else {
        let open = if value.is_empty() { "" } else { " open" };
        html!(
            page,
            "<details class=\"field\"{}><summary>With an idempotency key</summary><label for=\"key\">\
             idempotency key <span class=\"hint\">a second call under it is answered like the \
             first</span></label><input id=\"key\" name=\"key\" value=\"{}\" maxlength=\"255\" \
             autocomplete=\"off\"></details>",
            open,
            value
        );
    }
}

/// What an earlier answer told the caller to remember; sealed, so it is carried as it came.
fn memory(
    page: &mut Html,
    service: &Service,
    operation: &Operation,
    used: &MemoryUse,
    given: &Sent,
    wrong: Option<&(String, String)>,
) {
    let design = service.design();
    let name = memory_name(service, operation, used);
    let of = used.of.map(|local| operation.locals[local.index()].name.as_str());
    let root = &design.actors[used.actor.index()].name;
    let why = wrong.filter(|(field, _)| *field == name).map(|(_, why)| why);
    html!(
        page,
        "<div class=\"field{}\"><label for=\"m.{}\">{} <span class=\"hint\">what {} remembers{}; sealed, \
         filled in from this tab</span></label><input class=\"mono\" id=\"m.{}\" name=\"m.{}\" value=\"{}\" \
         data-field=\"{}\" data-actor=\"{}\"",
        if why.is_some() { " wrong" } else { "" },
        name,
        name,
        root,
        of.map(|of| format!(" of this {of}")).unwrap_or_default(),
        name,
        name,
        sent(given, &format!("m.{name}")).unwrap_or_default(),
        name,
        root
    );
    if let Some(of) = of {
        html!(page, " data-of=\"p.{}\"", of);
    }
    html!(page, " autocomplete=\"off\" spellcheck=\"false\">");
    if let Some(why) = why {
        html!(page, "<p class=\"why\">{}</p>", why);
    }
    html!(page, "</div>");
}

/// `my_epoch`, or `victim.my_epoch` where the step has it of several records.
pub fn memory_name(service: &Service, operation: &Operation, used: &MemoryUse) -> String {
    let field = &service.design().actors[used.actor.index()].memory[used.field.index()].name;
    let same = |other: &&MemoryUse| other.actor == used.actor && other.field == used.field;
    match used.of {
        Some(local) if operation.memory.iter().filter(same).count() > 1 => {
            format!("{}.{field}", operation.locals[local.index()].name)
        }
        _ => field.clone(),
    }
}

/// The flat object that a client would send.
pub fn fields_of(service: &Service, call: &Call, form: &Sent) -> Map<String, Value> {
    let design = service.design();
    let operation = service.operation(call);
    let mut object = Map::new();
    for param in operation.params.iter().filter(|param| param.generated.is_none()) {
        let optional = param.default.is_some() || param.ty.is_optional();
        let name = format!("p.{}", param.name);
        if let Some(value) = fields::read(design, &name, &param.ty, optional, form) {
            object.insert(param.name.clone(), value);
        }
    }
    for used in operation.memory.iter().filter(|used| used.read) {
        let name = memory_name(service, operation, used);
        if let Some(text) = sent(form, &format!("m.{name}")).filter(|text| !text.is_empty()) {
            object.insert(name, text.into());
        }
    }
    object
}

/// What it reads and writes, from the derivation.
fn writes(page: &mut Html, service: &Service, name: &str) {
    let seen = service.kept::<Seen>();
    let sheet = seen.sheet(service.design());
    let Some(derived) = sheet.operations.iter().find(|one| one.name == name) else { return };
    html!(
        page,
        "<h2>What it touches</h2><div class=\"wide\"><table class=\"stack\"><thead><tr><th>state</th><th>of</th><th>how</th></tr></thead><tbody>"
    );
    for touch in &derived.touches {
        let mut how = Vec::new();
        if touch.read_in_guard {
            how.push("decides");
        } else if touch.read {
            how.push("read");
        }
        if touch.written {
            how.push("written");
        }
        html!(
            page,
            "<tr><td class=\"key\">{}</td><td class=\"key faint\">{}</td><td>{}</td></tr>",
            touch.state,
            touch.path,
            how.join(", ")
        );
    }
    html!(page, "</tbody></table></div>");
    for repair in &derived.restored_by {
        html!(
            page,
            "<p class=\"hint\">If nobody comes back, <code>{}</code> clears up.</p>",
            repair
        );
    }
}

/// A short name for what the form is about: for the title of a note.
pub fn told(operation: &Operation, fields: &Map<String, Value>) -> String {
    let keys: Vec<Value> = operation
        .params
        .iter()
        .filter(|param| param.ty.subject().is_some())
        .filter_map(|param| fields.get(&param.name).cloned())
        .collect();
    if keys.is_empty() {
        operation.name.clone()
    } else {
        format!("{} {}", operation.name, key_text(&keys))
    }
}
