//! A client in Python, from 3.9 on, with the standard library and nothing else.

use std::fmt::Write as _;

use crate::module::{Actor, Asked, Method, Module, Records};
use crate::names::escaped;
use crate::shape::{Member, Shape};

const RUNTIME: &str = include_str!("runtime.py");
const HEAD: &str = "\
from __future__ import annotations

import email.utils
import http.client
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import (
    Any, Callable, Dict, Iterator, List, Literal, Mapping, Optional, Sequence, Tuple, Type, TypedDict, Union,
)

";

/// Keywords, and what annotations of a class or a function are written with.
const RESERVED: &[&str] = &[
    "False",
    "None",
    "True",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "case",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "match",
    "nonlocal",
    "not",
    "or",
    "pass",
    "raise",
    "return",
    "try",
    "type",
    "while",
    "with",
    "yield",
    "self",
    "str",
    "int",
    "bool",
    "float",
    "bytes",
    "idempotency_key",
    "if_match",
    "__init__",
    "Any",
    "Dict",
    "Iterator",
    "List",
    "Literal",
    "Optional",
    "Sequence",
    "Union",
];
/// What the client has besides its actors.
const TAKEN: &[&str] = &["records", "views", "feed", "memory", "blobs"];

pub fn written(module: &Module) -> String {
    let mut out = String::new();
    let title = one_line(&module.title);
    // writing to a text does not fail
    let _ = writeln!(out, "\"\"\"A client of {}.", title.replace('\\', " ").replace('"', "'"));
    out.push_str("\nMade by `steadfast client`: make it anew when the design changes, and do not edit it.\n\"\"\"\n\n");
    out.push_str(HEAD);
    out.push_str(RUNTIME);
    let _ = writeln!(out, "\n\n# ---- {title} ----\n");
    for named in &module.types {
        match &named.shape {
            Shape::Object(members) => typed_dict(&mut out, &named.name, members, &named.about),
            shape => {
                if !named.about.is_empty() {
                    let _ = writeln!(out, "# {}", one_line(&named.about));
                }
                // a name alone, in quotes, would be a text
                let shape = match shape {
                    Shape::Named(other) => other.clone(),
                    other => spelled(other),
                };
                let _ = writeln!(out, "{} = {shape}\n", named.name);
            }
        }
    }
    for method in module.actors.iter().flat_map(|actor| &actor.methods) {
        refused(&mut out, method);
    }
    module.actors.iter().for_each(|actor| class(&mut out, actor));
    module.records.iter().for_each(|records| record(&mut out, records));
    module.views.iter().for_each(|view| asked(&mut out, view));
    client(&mut out, module);
    out
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

fn is_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !text.starts_with(|letter: char| letter.is_ascii_digit())
        // a name with two underscores before it is another one within a class
        && !text.starts_with("__")
        && !text.is_empty()
        && !RESERVED.contains(&text)
}

fn spelled(shape: &Shape) -> String {
    let all = |shapes: &[Shape]| shapes.iter().map(spelled).collect::<Vec<_>>().join(", ");
    match shape {
        Shape::Any => "Any".into(),
        Shape::Null => "None".into(),
        Shape::Bool => "bool".into(),
        Shape::Whole | Shape::WholeSent => "int".into(),
        Shape::Number => "float".into(),
        Shape::Text | Shape::Decimal | Shape::Time | Shape::Duration => "str".into(),
        Shape::TimeSent | Shape::DurationSent => "Union[str, int]".into(),
        Shape::Const(text) => format!("Literal[{}]", quoted(text)),
        Shape::OneOf(texts) => {
            let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
            format!("Literal[{}]", texts.join(", "))
        }
        Shape::List(of) => format!("Sequence[{}]", spelled(of)),
        Shape::Parts(parts) => {
            let mut different: Vec<Shape> = Vec::new();
            parts.iter().for_each(|part| {
                if !different.contains(part) {
                    different.push(part.clone());
                }
            });
            match &different[..] {
                [only] => format!("Sequence[{}]", spelled(only)),
                several => format!("Sequence[Union[{}]]", all(several)),
            }
        }
        Shape::Map(of) => format!("Mapping[str, {}]", spelled(of)),
        // it may be written further down
        Shape::Named(name) => quoted(name),
        Shape::OrNull(of) => format!("Optional[{}]", spelled(of)),
        Shape::AnyOf(shapes) => format!("Union[{}]", all(shapes)),
        // every object has a name by now
        Shape::Object(_) => "Mapping[str, Any]".into(),
    }
}

/// As a class where every name can be one of its members; else by a call. What may be left out stands in a class that
/// goes on from the one with what may not.
fn typed_dict(out: &mut String, name: &str, members: &[Member], about: &str) {
    let optional = members.iter().any(|member| member.optional);
    let needed = members.iter().any(|member| !member.optional);
    let mut base = "TypedDict".to_string();
    if optional && needed {
        base = format!("_{name}");
        part(out, &base, "TypedDict", members.iter().filter(|member| !member.optional), "", true);
    }
    let rest = members.iter().filter(|member| !(optional && needed) || member.optional);
    part(out, name, &base, rest, about, !optional);
}

fn part<'m>(
    out: &mut String,
    name: &str,
    base: &str,
    members: impl Iterator<Item = &'m Member>,
    about: &str,
    total: bool,
) {
    let members: Vec<&Member> = members.collect();
    let totality = if total { "" } else { ", total=False" };
    if members.iter().all(|member| is_name(&member.name)) {
        let _ = writeln!(out, "class {name}({base}{totality}):");
        if !about.is_empty() {
            let _ = writeln!(out, "    \"\"\"{}\"\"\"\n", one_line(about));
        }
        for member in &members {
            let _ = writeln!(out, "    {}: {}", member.name, spelled(&member.shape));
        }
        if members.is_empty() && about.is_empty() {
            out.push_str("    pass\n");
        }
        out.push_str("\n\n");
        return;
    }
    let fields: Vec<String> = members
        .iter()
        .map(|member| format!("{}: {}", quoted(&member.name), spelled(&member.shape)))
        .collect();
    let made = if base == "TypedDict" { name.to_string() } else { format!("_{name}Optional") };
    let _ = writeln!(
        out,
        "{made} = TypedDict({}, {{{}}}{totality})\n\n",
        quoted(&made),
        fields.join(", ")
    );
    if made != name {
        let _ = writeln!(out, "class {name}({base}, {made}):\n    pass\n\n");
    }
}

fn refused(out: &mut String, method: &Method) {
    let Method { refused, guard, .. } = method;
    let guards: Vec<String> = method.guards.iter().map(|guard| quoted(guard)).collect();
    let known = match guards.len() {
        0 => "()".to_string(),
        1 => format!("({},)", guards[0]),
        _ => format!("({})", guards.join(", ")),
    };
    let _ = write!(
        out,
        "class {refused}(Refused):\n    \"\"\"`{}` was refused.\"\"\"\n\n    \
         guard: {guard}\n    # what befell the step, where the guard is \"fault\"\n    fault: Optional[str]\n    \
         # the records that the guard looked at\n    truth: Sequence[AnyRecord]\n\n    \
         def __init__(self, status: int, body: Mapping[str, Json]) -> None:\n        \
         super().__init__(status, body)\n        \
         known = body.get(\"guard\") in {known}\n        \
         self.guard = body[\"guard\"] if known else \"fault\"\n        \
         self.fault = None if known else body[\"guard\"]\n        \
         self.truth = body.get(\"truth\", [])\n\n\n",
        method.name,
    );
}

fn argument(member: &Member) -> String {
    let name = escaped(&member.name, RESERVED);
    let spelled = spelled(&member.shape);
    match (member.optional, &member.shape) {
        (false, _) => format!("{name}: {spelled}"),
        (true, Shape::OrNull(_) | Shape::Any) => format!("{name}: {spelled} = None"),
        (true, _) => format!("{name}: Optional[{spelled}] = None"),
    }
}

fn given(members: &[Member]) -> String {
    let each = members
        .iter()
        .map(|member| format!("{}: {}", quoted(&member.name), escaped(&member.name, RESERVED)));
    format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
}

/// The head of a class that makes requests.
fn head(out: &mut String, class: &str) {
    let _ = write!(
        out,
        "class {class}:\n    def __init__(self, connection: Connection) -> None:\n        \
         self._connection = connection\n\n",
    );
}

fn class(out: &mut String, actor: &Actor) {
    head(out, &actor.class);
    for method in &actor.methods {
        let mut params: Vec<String> = method.params.iter().map(argument).collect();
        if method.is_step {
            params.push("idempotency_key: Optional[str] = None".into());
            params.push("if_match: Optional[str] = None".into());
        }
        let star = if params.is_empty() { "" } else { ", *, " };
        let terms = if method.is_step { "idempotency_key, if_match" } else { "None, None" };
        let remembered: Vec<String> = method
            .memory
            .iter()
            .map(|(handed, actor)| {
                let of = handed.of.as_ref().map_or("None".into(), |of| quoted(of));
                let read = if handed.read { "True" } else { "False" };
                let (name, field) = (quoted(&handed.name), quoted(&handed.field));
                format!("({name}, {}, {field}, {of}, {read})", quoted(actor))
            })
            .collect();
        let _ = write!(
            out,
            "    def {}(self{star}{}) -> {done}:\n        \"\"\"{} Raises {refused}.\"\"\"\n        \
             answered: {done} = self._connection.call(\n            \
             {}, {}, {}, {}, [{}], {refused}, {terms}\n        )\n        return answered\n\n",
            escaped(&method.name, RESERVED),
            params.join(", "),
            one_line(&method.about),
            quoted(&method.actor),
            quoted(&method.name),
            if method.is_step { "True" } else { "False" },
            given(&method.params),
            remembered.join(", "),
            done = method.done,
            refused = method.refused,
        );
    }
    out.push('\n');
}

fn record(out: &mut String, records: &Records) {
    head(out, &records.class);
    let parts = records.key.iter().enumerate();
    let (params, given): (Vec<String>, Vec<String>) = parts
        .map(|(at, (name, shape))| {
            let name = format!("{name}_{}", at + 1);
            (format!("{name}: {}", spelled(shape)), name)
        })
        .unzip();
    let _ = write!(
        out,
        "    def get(self, {}) -> Optional[{record}]:\n        \
         \"\"\"None: there is none, or none that the caller may see.\"\"\"\n        \
         found: Optional[{record}] = self._connection.record({subject}, [{}])\n        return found\n\n    \
         def list(self, having: Mapping[str, Json] = {{}}) -> Iterator[{record}]:\n        \
         \"\"\"All that have these values and that the caller may see, in the order of their keys.\n\n        \
         By {asked}.\n        \"\"\"\n        \
         yield from self._connection.list({subject}, having)\n\n\n",
        params.join(", "),
        given.join(", "),
        subject = quoted(&records.subject),
        record = records.record,
        asked = records.asked.join(", "),
    );
}

fn asked(out: &mut String, view: &Asked) {
    head(out, &view.class);
    // what may be left out comes last
    let params: Vec<String> = view.params.iter().map(argument).collect();
    let _ = write!(
        out,
        "    def read(self, *, {params}) -> {answer}:\n        \"\"\"{about}\"\"\"\n        \
         told: {answer} = self._connection.view({view}, {given})\n        return told\n\n",
        params = params.join(", "),
        answer = view.answer,
        about = one_line(&view.about),
        view = quoted(&view.view),
        given = given(&view.params),
    );
    if let Some(row) = &view.row {
        let again: Vec<String> = view
            .params
            .iter()
            .map(|param| escaped(&param.name, RESERVED))
            .map(|name| format!("{name}={name}"))
            .collect();
        let _ = write!(
            out,
            "    def rows(self, *, {params}) -> Iterator[{row}]:\n        \"\"\"All rows, page after page.\"\"\"\n        \
             while True:\n            page = self.read({again})\n            \
             yield from page[\"rows\"]\n            \
             if page[\"next\"] is None:\n                return\n            \
             after = page[\"next\"]\n\n",
            params = params.join(", "),
            again = again.join(", "),
        );
    }
    out.push('\n');
}

fn client(out: &mut String, module: &Module) {
    let group = |out: &mut String, name: &str, members: Vec<(String, &str)>| {
        let _ =
            write!(out, "class {name}:\n    def __init__(self, connection: Connection) -> None:\n");
        for (member, class) in &members {
            let _ = writeln!(out, "        self.{member} = {class}(connection)");
        }
        if members.is_empty() {
            out.push_str("        pass\n");
        }
        out.push_str("\n\n");
    };
    let records = module.records.iter();
    group(out, "Records", records.map(|it| (escaped(&it.subject, RESERVED), &*it.class)).collect());
    let views = module.views.iter();
    group(out, "Views", views.map(|it| (escaped(&it.view, RESERVED), &*it.class)).collect());
    if module.has_blobs {
        head(out, "Blobs");
        out.push_str(
            "    def put(self, content: bytes) -> str:\n        \"\"\"Stores content, and gives its digest.\"\"\"\n        \
             return self._connection.store(content)\n\n    \
             def get(self, digest: str) -> bytes:\n        return self._connection.content(digest)\n\n\n",
        );
    }
    let title = one_line(&module.title).replace('\\', " ").replace('"', "'");
    let _ = write!(
        out,
        "class Client:\n    \"\"\"One caller of {title}. It keeps what the server gives it to remember.\n\n    \
         `base_url`: where the server is. `token`: gives the token of the caller; asked before every try, so that a token\n    \
         may be renewed. `principal`: who calls, for a server on loopback that asks for no tokens. `timeout_s`: one try may\n    \
         take so long; `patience_s`: all tries of one call together. `quiet_s`: a feed that sends nothing for so long is\n    \
         asked for again. `memory`: `memory.to_dict()` of an earlier client of the same principal.\n    \"\"\"\n\n    \
         def __init__(\n        self,\n        base_url: str,\n        *,\n        \
         token: Optional[Callable[[], str]] = None,\n        principal: Optional[str] = None,\n        \
         timeout_s: float = 30.0,\n        patience_s: float = 60.0,\n        quiet_s: float = 60.0,\n        \
         memory: Optional[Mapping[str, str]] = None,\n    ) -> None:\n        \
         connection = Connection({}, base_url, token, principal, timeout_s, patience_s, quiet_s, memory)\n        \
         self._connection = connection\n        self.records = Records(connection)\n        \
         self.views = Views(connection)\n",
        quoted(&module.service),
    );
    if module.has_blobs {
        out.push_str("        self.blobs = Blobs(connection)\n");
    }
    for actor in &module.actors {
        let mut member = escaped(&actor.name, RESERVED);
        if TAKEN.contains(&member.as_str()) {
            member.push('_');
        }
        let _ = writeln!(out, "        self.{member} = {}(connection)", actor.class);
    }
    out.push_str(
        "\n    @property\n    def memory(self) -> Memory:\n        return self._connection.memory\n\n    \
         def feed(\n        self, start: Optional[str] = None, subject: Optional[str] = None, key: Sequence[Json] = ()\n    \
         ) -> Iterator[Transition]:\n        \
         \"\"\"What happens, each transition once and in order; after a cut it goes on where it was.\n\n        \
         `start`: strictly after this revision; \"start\" for all that is kept, \"now\" unless said.\n        \"\"\"\n        \
         yield from self._connection.feed(start, subject, key)\n",
    );
}
