//! A client in TypeScript: for browsers and for Node from 18 on, with `fetch` and nothing else.

use std::fmt::Write as _;

use crate::module::{Actor, Asked, Method, Module, Records};
use crate::names::escaped;
use crate::shape::{Member, Shape};

const RUNTIME: &str = include_str!("runtime.ts");
/// What a class of the client has already, or what no member can be called.
const RESERVED: &[&str] = &["constructor", "records", "views", "feed", "memory", "blobs"];

pub fn written(module: &Module) -> String {
    let mut out = String::new();
    // writing to a text does not fail
    let _ = writeln!(out, "// A client of {}.", one_line(&module.title));
    out.push_str("// Made by `steadfast client`: make it anew when the design changes, and do not edit it.\n\n");
    out.push_str(RUNTIME);
    let _ = writeln!(out, "\n// ---- {} ----\n", one_line(&module.title));
    for named in &module.types {
        about(&mut out, "", &named.about);
        match &named.shape {
            Shape::Object(members) => {
                let _ = writeln!(out, "export interface {} {{", named.name);
                for member in members {
                    let _ = writeln!(out, "  {}", field(member));
                }
                out.push_str("}\n\n");
            }
            shape => {
                let _ = writeln!(out, "export type {} = {};\n", named.name, spelled(shape));
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

fn about(out: &mut String, indent: &str, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(out, "{indent}/** {} */", one_line(text).replace("*/", "* /"));
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                out.push('\\');
                out.push(letter);
            }
            '\n' => out.push_str("\\n"),
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// A name of a member, with quotes where it is no identifier.
fn name(text: &str) -> String {
    let plain = text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !text.starts_with(|letter: char| letter.is_ascii_digit());
    if plain && !text.is_empty() { text.to_string() } else { quoted(text) }
}

fn field(member: &Member) -> String {
    let mark = if member.optional { "?" } else { "" };
    let undefined = if member.optional { " | undefined" } else { "" };
    format!("{}{mark}: {}{undefined};", name(&member.name), spelled(&member.shape))
}

fn spelled(shape: &Shape) -> String {
    match shape {
        Shape::Any => "Json".into(),
        Shape::Null => "null".into(),
        Shape::Bool => "boolean".into(),
        Shape::Whole | Shape::Number => "number".into(),
        Shape::WholeSent => "Whole".into(),
        Shape::Text => "string".into(),
        Shape::Decimal => "Decimal".into(),
        Shape::Time => "Time".into(),
        Shape::TimeSent => "Time | number".into(),
        Shape::Duration => "Duration".into(),
        Shape::DurationSent => "Duration | number".into(),
        Shape::Const(text) => quoted(text),
        Shape::OneOf(texts) => {
            texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(" | ")
        }
        Shape::List(of) => format!("readonly ({})[]", spelled(of)),
        Shape::Parts(parts) => {
            format!("readonly [{}]", parts.iter().map(spelled).collect::<Vec<_>>().join(", "))
        }
        Shape::Map(of) => format!("Readonly<Record<string, {}>>", spelled(of)),
        Shape::Named(name) => name.clone(),
        Shape::OrNull(of) => format!("{} | null", spelled(of)),
        Shape::AnyOf(shapes) => shapes.iter().map(spelled).collect::<Vec<_>>().join(" | "),
        // every object has a name by now
        Shape::Object(members) => {
            format!("{{ {} }}", members.iter().map(field).collect::<Vec<_>>().join(" "))
        }
    }
}

fn refused(out: &mut String, method: &Method) {
    let Method { refused, guard, done, .. } = method;
    let _ = write!(
        out,
        "export interface {refused} {{\n  outcome: \"refused\";\n  guard: {guard};\n  \
         /** What befell the step, where the guard is \"fault\". */\n  fault: AnyFault | null;\n  \
         /** The records that the guard looked at. */\n  truth: readonly AnyRecord[];\n  \
         /** What the caller could do instead. */\n  legal: readonly Legal[];\n  \
         /** The failures that this guard is there for. */\n  prevents: readonly string[];\n  \
         detail: string;\n}}\nexport type {} = {done} | {refused};\n\n",
        answer(method),
    );
}

fn answer(method: &Method) -> String {
    format!("{}Answer", method.done.strip_suffix("Done").unwrap_or(&method.done))
}

fn class(out: &mut String, actor: &Actor) {
    let _ = writeln!(out, "export class {} {{", actor.class);
    out.push_str("  readonly #connection: Connection;\n  constructor(connection: Connection) {\n");
    out.push_str("    this.#connection = connection;\n  }\n");
    for method in &actor.methods {
        let needed = method.params.iter().any(|param| !param.optional);
        let params = match &method.params_type {
            None => String::new(),
            Some(of) if needed => format!("params: {of}, "),
            Some(of) => format!("params: {of} = {{}}, "),
        };
        let given = if method.params_type.is_some() { "params" } else { "{}" };
        let remembered: Vec<String> = method
            .memory
            .iter()
            .map(|(handed, actor)| {
                let of = handed.of.as_ref().map_or("null".into(), |of| quoted(of));
                let (name, field) = (quoted(&handed.name), quoted(&handed.field));
                format!("[{name}, {}, {field}, {of}, {}]", quoted(actor), handed.read)
            })
            .collect();
        let guards: Vec<String> = method.guards.iter().map(|guard| quoted(guard)).collect();
        out.push('\n');
        about(out, "  ", &method.about);
        let _ = write!(
            out,
            "  async {}({params}terms: Terms = {{}}): Promise<{answer}> {{\n    \
             const asked = {{ actor: {}, operation: {}, isStep: {}, guards: [{}] }};\n    \
             const answered: unknown = await this.#connection.call(asked, {given}, [{}], terms);\n    \
             return answered as {answer};\n  }}\n",
            escaped(&method.name, &["constructor"]),
            quoted(&method.actor),
            quoted(&method.name),
            method.is_step,
            guards.join(", "),
            remembered.join(", "),
            answer = answer(method),
        );
    }
    out.push_str("}\n\n");
}

fn record(out: &mut String, records: &Records) {
    let params: Vec<String> = records
        .key
        .iter()
        .enumerate()
        .map(|(at, (name, shape))| format!("{}: {}", argument(name, at), spelled(shape)))
        .collect();
    let given: Vec<String> =
        records.key.iter().enumerate().map(|(at, (name, _))| argument(name, at)).collect();
    let asked: Vec<String> = records.asked.iter().map(|name| quoted(name)).collect();
    let _ = write!(
        out,
        "export class {class} {{\n  readonly #connection: Connection;\n  constructor(connection: Connection) {{\n    \
         this.#connection = connection;\n  }}\n\n  \
         /** Null: there is none, or none that the caller may see. */\n  \
         async get({params}, signal?: AbortSignal): Promise<{record} | null> {{\n    \
         const found: unknown = await this.#connection.record({subject}, [{given}], signal);\n    \
         return found as {record} | null;\n  }}\n\n  \
         /** All that have these values and that the caller may see, in the order of their keys, page after page. */\n  \
         async *list(having: {{ readonly [name in {asked}]?: Json }} = {{}}, signal?: AbortSignal): AsyncGenerator<{record}, void, undefined> {{\n    \
         for await (const found of this.#connection.list({subject}, having, signal)) {{\n      \
         const told: unknown = found;\n      yield told as {record};\n    }}\n  }}\n}}\n\n",
        class = records.class,
        params = params.join(", "),
        record = records.record,
        subject = quoted(&records.subject),
        given = given.join(", "),
        asked = asked.join(" | "),
    );
}

/// A part of a key as an argument: two parts may have one name, and none is a keyword.
fn argument(name: &str, at: usize) -> String {
    format!("{name}_{}", at + 1)
}

fn asked(out: &mut String, view: &Asked) {
    let members: Vec<String> = view.params.iter().map(field).collect();
    let needed = view.params.iter().any(|param| !param.optional);
    let default = if needed { "" } else { " = {}" };
    let _ = write!(
        out,
        "export class {class} {{\n  readonly #connection: Connection;\n  constructor(connection: Connection) {{\n    \
         this.#connection = connection;\n  }}\n\n",
        class = view.class,
    );
    about(out, "  ", &view.about);
    let _ = write!(
        out,
        "  async read(asked: {{ {members} }}{default}, signal?: AbortSignal): Promise<{answer}> {{\n    \
         const told: unknown = await this.#connection.view({view}, asked, signal);\n    \
         return told as {answer};\n  }}\n",
        members = members.join(" "),
        answer = view.answer,
        view = quoted(&view.view),
    );
    if let Some(row) = &view.row {
        let _ = write!(
            out,
            "\n  /** All rows, page after page. */\n  \
             async *rows(asked: {{ {members} }}{default}, signal?: AbortSignal): AsyncGenerator<{row}, void, undefined> {{\n    \
             for (let after = asked.after; ; ) {{\n      \
             const page = await this.read({{ ...asked, after }}, signal);\n      \
             yield* page.rows;\n      \
             if (page.next === null) return;\n      \
             after = page.next;\n    }}\n  }}\n",
            members = members.join(" "),
        );
    }
    out.push_str("}\n\n");
}

fn client(out: &mut String, module: &Module) {
    let group = |out: &mut String, name: &str, members: Vec<(String, &str)>| {
        let _ = writeln!(out, "export class {name} {{");
        for (member, class) in &members {
            let _ = writeln!(out, "  readonly {member}: {class};");
        }
        out.push_str("  constructor(connection: Connection) {\n");
        if members.is_empty() {
            out.push_str("    void connection;\n");
        }
        for (member, class) in &members {
            let _ = writeln!(out, "    this.{member} = new {class}(connection);");
        }
        out.push_str("  }\n}\n\n");
    };
    let records = module.records.iter();
    let records = records.map(|it| (escaped(&it.subject, &["constructor"]), it.class.as_str()));
    group(out, "Records", records.collect());
    let views = module.views.iter();
    let views = views.map(|it| (escaped(&it.view, &["constructor"]), it.class.as_str()));
    group(out, "Views", views.collect());
    about(
        out,
        "",
        &format!("One caller of {}. It keeps what the server gives it to remember.", module.title),
    );
    out.push_str("export class Client {\n  readonly #connection: Connection;\n");
    out.push_str("  /** The truth of single records. */\n  readonly records: Records;\n");
    out.push_str("  readonly views: Views;\n");
    for actor in &module.actors {
        let _ = writeln!(out, "  readonly {}: {};", escaped(&actor.name, RESERVED), actor.class);
    }
    let _ = write!(
        out,
        "\n  constructor(options: Options) {{\n    \
         this.#connection = new Connection(options, {});\n    \
         this.records = new Records(this.#connection);\n    \
         this.views = new Views(this.#connection);\n",
        quoted(&module.service),
    );
    for actor in &module.actors {
        let member = escaped(&actor.name, RESERVED);
        let _ = writeln!(out, "    this.{member} = new {}(this.#connection);", actor.class);
    }
    out.push_str("  }\n\n  get memory(): Memory {\n    return this.#connection.memory;\n  }\n\n");
    out.push_str(
        "  /** What happens, each transition once and in order; after a cut it goes on where it was. */\n  \
         async *feed(asked: FeedAsked = {}): AsyncGenerator<Transition, void, undefined> {\n    \
         for await (const told of this.#connection.feed(asked)) yield told as unknown as Transition;\n  }\n",
    );
    if module.has_blobs {
        out.push_str(
            "\n  readonly blobs = {\n    \
             /** Stores content, and gives its digest. */\n    \
             put: (content: Uint8Array, signal?: AbortSignal): Promise<string> => this.#connection.store(content, signal),\n    \
             get: (digest: string, signal?: AbortSignal): Promise<Uint8Array> => this.#connection.content(digest, signal),\n  };\n",
        );
    }
    out.push_str("}\n");
}
