//! A client of one design, before it is written in a language: its types, and what it can be asked for.

use design::model::{
    Design, Expr, ExprKind, OperationKind, StateKind, SubjectId, Type, View, ViewForm,
};

use crate::calls::{Call, Handed, calls, changed, handed_out};
use crate::names::{Names, pascal};
use crate::refusals::refusals;
use crate::shape::{Member, Shape, answered, key, key_names, sent};

/// Names of the part that all clients share: no type of a design is called so.
const TAKEN: &[&str] = &[
    "Any",
    "AnyFault",
    "AnyRecord",
    "Array",
    "Callable",
    "Client",
    "Connection",
    "Date",
    "Decimal",
    "Dict",
    "Duration",
    "Error",
    "Fault",
    "FeedAsked",
    "Iterator",
    "Json",
    "Legal",
    "List",
    "Literal",
    "Map",
    "Mapping",
    "Memory",
    "Object",
    "Optional",
    "Options",
    "Page",
    "Place",
    "Problem",
    "Promise",
    "Record",
    "Records",
    "Refused",
    "Request",
    "Response",
    "Sequence",
    "Set",
    "String",
    "Terms",
    "Time",
    "Transition",
    "Tuple",
    "Type",
    "TypedDict",
    "Unanswered",
    "Union",
    "Views",
    "Whole",
    "Blobs",
    "AnyEvent",
];

pub struct Module {
    /// of the design
    pub title: String,
    /// how paths call the design
    pub service: String,
    pub types: Vec<Named>,
    pub actors: Vec<Actor>,
    pub records: Vec<Records>,
    pub views: Vec<Asked>,
    pub has_blobs: bool,
}

pub struct Named {
    pub name: String,
    pub shape: Shape,
    pub about: String,
}

pub struct Actor {
    pub name: String,
    /// of its class
    pub class: String,
    pub methods: Vec<Method>,
}

pub struct Method {
    pub name: String,
    pub actor: String,
    pub about: String,
    pub is_step: bool,
    pub params: Vec<Member>,
    /// none: it takes no parameters
    pub params_type: Option<String>,
    pub done: String,
    pub guards: Vec<String>,
    pub guard: String,
    pub refused: String,
    pub memory: Vec<(Handed, String)>,
}

pub struct Records {
    pub subject: String,
    pub class: String,
    pub record: String,
    pub key: Vec<(String, Shape)>,
    /// what they can be asked for by: parts of the key and attributes
    pub asked: Vec<String>,
}

pub struct Asked {
    pub view: String,
    pub class: String,
    pub about: String,
    /// those of the view, and those of its form
    pub params: Vec<Member>,
    pub answer: String,
    /// none: it has no rows
    pub row: Option<String>,
}

impl Module {
    /// `service`: how paths of the server call the design.
    pub fn of(design: &Design, service: &str) -> Module {
        let mut writer = Writer {
            design,
            names: Names::with(TAKEN),
            types: Vec::new(),
            truth_types: Vec::new(),
            now_types: Vec::new(),
            view_types: Vec::new(),
        };
        let records = writer.records();
        let views = writer.views();
        writer.feed();
        let actors = writer.actors();
        let title = match design.title.is_empty() {
            true => design.name.clone(),
            false => format!("{}: {}", design.name, design.title),
        };
        let has_blobs = !design.blobs.is_empty();
        let service = service.to_lowercase();
        Module { title, service, types: writer.types, actors, records, views, has_blobs }
    }
}

struct Writer<'d> {
    design: &'d Design,
    names: Names,
    types: Vec<Named>,
    /// of each subject the types of its truth, and of a record after a step
    truth_types: Vec<String>,
    now_types: Vec<String>,
    /// of each view the type of its answer; none: it is not served
    view_types: Vec<Option<String>>,
}

impl Writer<'_> {
    /// Every object within a shape gets a type of its own, called after where it stands.
    fn flat(&mut self, shape: Shape, hint: &str) -> Shape {
        match shape {
            Shape::Object(members) => Shape::Named(self.object(hint, members, "")),
            Shape::List(of) => {
                let hint = format!("{hint}Item");
                Shape::List(Box::new(self.flat(*of, &hint)))
            }
            Shape::Map(of) => Shape::Map(Box::new(self.flat(*of, &format!("{hint}Value")))),
            Shape::OrNull(of) => Shape::OrNull(Box::new(self.flat(*of, hint))),
            other => other,
        }
    }

    fn members(&mut self, members: Vec<Member>, hint: &str) -> Vec<Member> {
        let one = |member: Member| {
            let hint = format!("{hint}{}", pascal(&member.name));
            Member { shape: self.flat(member.shape, &hint), ..member }
        };
        members.into_iter().map(one).collect()
    }

    fn object(&mut self, name: &str, members: Vec<Member>, about: &str) -> String {
        let members = self.members(members, name);
        self.named(name, Shape::Object(members), about)
    }

    fn named(&mut self, name: &str, shape: Shape, about: &str) -> String {
        let name = self.names.take(name);
        self.types.push(Named { name: name.clone(), shape, about: about.to_string() });
        name
    }

    fn records(&mut self) -> Vec<Records> {
        let mut found = Vec::new();
        let mut everything = Vec::new();
        for (at, subject) in self.design.subjects.iter().enumerate() {
            let id = SubjectId::of(at);
            let class = pascal(&subject.name);
            let mut states = Vec::new();
            for state in &subject.states {
                let fields = match state.kind {
                    StateKind::Log { .. } => {
                        vec![Member::new("start", Shape::Whole), Member::new("end", Shape::Whole)]
                    }
                    StateKind::Truth if !state.attributes.is_empty() => {
                        let attributes =
                            state.attributes.iter().map(|at| &subject.attributes[at.index()]);
                        let told = attributes.filter(|attribute| !attribute.ty.is_secret());
                        told.map(|it| Member::new(&it.name, answered(self.design, &it.ty)))
                            .collect()
                    }
                    _ => continue,
                };
                let of_state = self.object(&pascal(&state.name), fields, "");
                states.push(Member::optional(&state.name, Shape::Named(of_state)));
            }
            let about = "State by state; one that the caller may not see is left out.";
            let truth = self.object(&format!("{class}Truth"), states, about);
            let key_shape = Shape::Parts(key(self.design, id, false));
            let member = |name: &str, shape: Shape| Member::new(name, shape);
            let head = |truth: Shape| {
                vec![
                    member("subject", Shape::Const(subject.name.clone())),
                    member("key", key_shape.clone()),
                    member("truth", truth),
                ]
            };
            self.truth_types.push(truth.clone());
            let mut whole = head(Shape::Named(truth.clone()));
            whole.push(member("etag", Shape::Text));
            let record = self.object(&format!("{class}Record"), whole, "");
            let now = head(Shape::Named(truth).or_null());
            let about = "As it is after a step; a truth of null: there is none.";
            let now = self.object(&format!("{class}Now"), now, about);
            self.now_types.push(now.clone());
            everything.push(Shape::Named(now));
            let key = key_names(self.design, id).into_iter().zip(key(self.design, id, true));
            let parts = subject.keys.iter().map(|part| part.name.clone());
            let asked = parts.chain(subject.asked().map(|asked| asked.name())).collect();
            let (subject, key) = (subject.name.clone(), key.collect());
            let class = self.names.take(&format!("{class}Records"));
            found.push(Records { subject, class, record, key, asked });
        }
        let shape = if everything.is_empty() { Shape::Any } else { Shape::any_of(everything) };
        let about = "A record of any subject of the design.".to_string();
        self.types.push(Named { name: "AnyRecord".into(), shape, about });
        found
    }

    /// The type of a record of one of these subjects, as it is after a step.
    fn now(&self, subjects: &[SubjectId]) -> Shape {
        if subjects.is_empty() || subjects.len() == self.design.subjects.len() {
            return Shape::Named("AnyRecord".into());
        }
        let name = |id: &SubjectId| Shape::Named(self.now_types[id.index()].clone());
        Shape::any_of(subjects.iter().map(name).collect())
    }

    fn views(&mut self) -> Vec<Asked> {
        let mut found = Vec::new();
        for view in &self.design.views {
            if matches!(view.form, ViewForm::Near { from: None, .. }) {
                self.view_types.push(None);
                continue;
            }
            let class = pascal(&view.name);
            let row = self.row(view, &class);
            let members = self.answer(view, row.as_deref());
            let answer = self.object(&format!("{class}View"), members, "");
            self.view_types.push(Some(answer.clone()));
            let mut params: Vec<Member> = Vec::new();
            for param in &view.params {
                let shape = self.flat(sent(self.design, &param.ty), &pascal(&param.name));
                params.push(Member::new(&param.name, shape));
            }
            let text = |name: &str| Member::optional(name, Shape::Text);
            match view.form {
                ViewForm::Search { .. } => {
                    params.push(Member::new("q", Shape::Text));
                    let facets = Shape::List(Box::new(Shape::Text));
                    params.push(Member::optional("facet", facets));
                }
                ViewForm::Near { .. } => params.push(text("within")),
                ViewForm::Rank { .. } => {
                    let key = Shape::Parts(key(self.design, view.subject, true));
                    params.push(Member::optional("around", key));
                }
                _ => {}
            }
            if row.is_some() || matches!(view.form, ViewForm::Window { .. }) {
                params.push(Member::optional("limit", Shape::Whole));
            }
            if row.is_some() {
                params.push(text("after"));
            }
            params.push(text("at_least"));
            let about = match &view.caller {
                None => format!("The view `{}`.", view.name),
                Some(caller) => {
                    let of = &self.design.actors[caller.actor.index()].name;
                    format!("The view `{}`: rows of the caller, who is a `{of}`.", view.name)
                }
            };
            let class = self.names.take(&format!("{class}Views"));
            let view = view.name.clone();
            found.push(Asked { view, class, about, params, answer, row });
        }
        found
    }

    fn row(&mut self, view: &View, class: &str) -> Option<String> {
        let is_search = matches!(view.form, ViewForm::Search { .. });
        if !view.has_rows() && !is_search {
            return None;
        }
        let truth = Shape::Named(self.truth_types[view.subject.index()].clone());
        let key = Shape::Parts(key(self.design, view.subject, false));
        let mut members = vec![Member::new("key", key), Member::new("truth", truth)];
        if matches!(view.form, ViewForm::Rank { .. }) {
            members.push(Member::optional("rank", Shape::Whole));
        }
        if matches!(view.form, ViewForm::Near { .. }) {
            members.push(Member::new("distance_m", Shape::Number));
        }
        if is_search {
            members.push(Member::optional("score", Shape::Number));
            members.push(Member::new("highlights", Shape::Map(Box::new(Shape::Text))));
        }
        if !view.with.is_empty() {
            let shown = view.with.iter().map(|column| {
                let shape = answered(self.design, column.value.ty.required()).or_null();
                Member::optional(&column.name, shape)
            });
            members.push(Member::new("with", Shape::Object(shown.collect())));
        }
        Some(self.object(&format!("{class}Row"), members, ""))
    }

    fn answer(&self, view: &View, row: Option<&str>) -> Vec<Member> {
        let mut members = vec![Member::new("revision", Shape::Text)];
        let amount = |ty: &Type| match ty.required() {
            Type::Decimal | Type::Money(_) => Shape::Decimal,
            _ => Shape::AnyOf(vec![Shape::Whole, Shape::Text]),
        };
        match &view.form {
            ViewForm::Count => members.push(Member::new("count", Shape::Whole)),
            ViewForm::Sum { value } => members.push(Member::new("sum", amount(&value.ty))),
            ViewForm::Extreme { greatest, value } => {
                let name = if *greatest { "max" } else { "min" };
                let shape = answered(self.design, value.ty.required()).or_null();
                members.push(Member::new(name, shape));
            }
            ViewForm::Average { .. } => {
                members.push(Member::new("avg", Shape::Decimal.or_null()));
            }
            ViewForm::Window { value, .. } => {
                let mut stretch =
                    vec![Member::new("start", Shape::Time), Member::new("count", Shape::Whole)];
                stretch.extend(value.iter().map(|it| Member::new("sum", amount(&it.ty))));
                let stretches = Shape::List(Box::new(Shape::Object(stretch)));
                members.push(Member::new("stretches", stretches));
            }
            _ => {
                let row = Shape::Named(row.unwrap_or("AnyRecord").to_string());
                members.push(Member::new("rows", Shape::List(Box::new(row))));
                members.push(Member::new("next", Shape::Text.or_null()));
                if !matches!(view.form, ViewForm::Near { .. }) {
                    members.push(Member::optional("total", Shape::Whole));
                }
            }
        }
        if matches!(view.form, ViewForm::Search { .. }) {
            let facet = vec![Member::new("value", Shape::Text), Member::new("count", Shape::Whole)];
            let facets = Shape::Map(Box::new(Shape::List(Box::new(Shape::Object(facet)))));
            members.push(Member::optional("facets", facets));
        }
        members
    }

    fn feed(&mut self) {
        let mut events = Vec::new();
        for event in &self.design.events {
            let fields =
                event.fields.iter().map(|(name, ty)| Member::new(name, answered(self.design, ty)));
            let fields = Shape::Object(fields.collect());
            let event_of = Shape::Const(event.name.clone());
            let members = vec![Member::new("event", event_of), Member::new("fields", fields)];
            let name = format!("{}Event", pascal(&event.name));
            events.push(Shape::Named(self.object(&name, members, "")));
        }
        let shape = if events.is_empty() { Shape::Any } else { Shape::any_of(events) };
        let about = "An event of the design.".to_string();
        self.types.push(Named { name: "AnyEvent".into(), shape, about });
        let text = |name: &str| Member::new(name, Shape::Text);
        let list = |of: &str| Shape::List(Box::new(Shape::Named(of.into())));
        let members = vec![
            text("revision"),
            text("actor"),
            text("operation"),
            text("principal"),
            Member::new("at", Shape::Time),
            Member::new("changes", list("AnyRecord")),
            Member::new("events", list("AnyEvent")),
            Member::optional("traceparent", Shape::Text),
        ];
        let about = "What happened at one revision, as far as the caller may see it. One of an earlier version of the \
                     design is told in the words of that version.";
        let shape = Shape::Object(members);
        self.types.push(Named { name: "Transition".into(), shape, about: about.into() });
    }

    fn actors(&mut self) -> Vec<Actor> {
        let mut actors: Vec<Actor> = Vec::new();
        for call in calls(self.design) {
            let method = self.method(&call);
            match actors.iter_mut().find(|actor| actor.name == call.actor) {
                Some(actor) => actor.methods.push(method),
                None => {
                    let class = self.names.take(&format!("{}Actor", pascal(call.actor)));
                    let (name, methods) = (call.actor.to_string(), vec![method]);
                    actors.push(Actor { name, class, methods });
                }
            }
        }
        actors
    }

    fn method(&mut self, call: &Call<'_>) -> Method {
        let (design, operation) = (self.design, call.operation);
        let stem = format!("{}{}", pascal(call.actor), pascal(&operation.name));
        let given = operation.params.iter().filter(|param| param.generated.is_none());
        let params: Vec<Member> = given
            .map(|param| Member {
                name: param.name.clone(),
                shape: sent(design, &param.ty),
                optional: param.default.is_some() || param.ty.is_optional(),
            })
            .collect();
        let params = self.members(params, &stem);
        let params_type = (!params.is_empty())
            .then(|| self.named(&format!("{stem}Params"), Shape::Object(params.clone()), ""));
        let result = match &operation.kind {
            OperationKind::Read { result } => self.result(result),
            _ => chosen(design, operation),
        };
        let truth = self.now(&changed(design, operation));
        let done = vec![
            Member::new("revision", Shape::Text),
            Member::new("outcome", Shape::Const("done".into())),
            Member::new("memory", Shape::Map(Box::new(Shape::Text.or_null()))),
            Member::new("truth", Shape::List(Box::new(truth))),
            Member::new("result", self.flat(result, &format!("{stem}Result"))),
        ];
        let done = self.object(&format!("{stem}Done"), done, "Carried out, and durable.");
        let guards: Vec<String> = refusals(design, operation).names().map(str::to_string).collect();
        let mut named = guards.clone();
        if !named.iter().any(|name| name == "fault") {
            named.push("fault".into());
        }
        let about = format!(
            "What `{}` is refused by; of `fault`, the field `fault` says what.",
            operation.name
        );
        let guard = self.named(&format!("{stem}Guard"), Shape::OneOf(named), &about);
        let refused = self.names.take(&format!("{stem}Refused"));
        let memory = handed_out(design, operation)
            .into_iter()
            .map(|handed| {
                let actor = design.actors[handed.actor.index()].name.clone();
                (handed, actor)
            })
            .collect();
        let kind = if call.is_step { "Step" } else { "Read" };
        let about = format!("{kind} `{}[{}]`.", call.actor, operation.name);
        Method {
            name: operation.name.clone(),
            actor: call.actor.to_string(),
            about,
            is_step: call.is_step,
            params,
            params_type,
            done,
            guards,
            guard,
            refused,
            memory,
        }
    }

    /// What a read answers: views that it asks and entries of logs among it.
    fn result(&self, expr: &Expr) -> Shape {
        match &expr.kind {
            ExprKind::Record(fields) => {
                let members =
                    fields.iter().map(|(name, held)| Member::new(name, self.result(held)));
                Shape::Object(members.collect())
            }
            ExprKind::View { view, .. } => {
                let known = self.view_types.get(view.index()).cloned().flatten();
                known.map_or(Shape::Any, Shape::Named)
            }
            ExprKind::LogSlice { .. } => match answered(self.design, &expr.ty) {
                Shape::List(entry) => {
                    let mut members = vec![Member::new("offset", Shape::Whole)];
                    if let Shape::Object(fields) = *entry {
                        members.extend(fields);
                    }
                    Shape::List(Box::new(Shape::Object(members)))
                }
                other => other,
            },
            _ => answered(self.design, &expr.ty),
        }
    }
}

/// What the server chooses for a step. A secret is told by the first answer alone.
fn chosen(design: &Design, operation: &design::model::Operation) -> Shape {
    let mut members = Vec::new();
    for param in operation.params.iter().filter(|param| param.generated.is_some()) {
        let shape = match param.ty {
            Type::Secret => Shape::Text.or_null(),
            Type::Ref(_) => answered(design, &param.ty),
            _ => Shape::Text,
        };
        members.push(Member::new(&param.name, shape));
    }
    if members.is_empty() {
        return Shape::Null;
    }
    if operation.has_secrets() {
        let names = Shape::List(Box::new(Shape::Text));
        members.push(Member::optional("already_given", names));
    }
    Shape::Object(members)
}
