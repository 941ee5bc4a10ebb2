//! Trees in one line each.

use syntax::tree::*;

/// An expression in prefix form: `(+ a (* b c))`.
pub fn show(e: &Expr) -> String {
    let all = |list: &[Expr]| list.iter().map(show).collect::<Vec<_>>().join(" ");
    let domain = |d: &Domain| match &d.parent {
        Some(parent) => format!("{} of {}", show(&d.of_what), show(parent)),
        None => show(&d.of_what),
    };
    let filter =
        |f: &Option<Box<Expr>>| f.as_ref().map_or(String::new(), |f| format!(" where {}", show(f)));
    match &e.kind {
        ExprKind::Null => "null".into(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Int(digits) | ExprKind::Decimal(digits) => digits.clone(),
        ExprKind::Text(text) => format!("{text:?}"),
        ExprKind::Duration { number, unit } => format!("{number}:{unit:?}"),
        ExprKind::Now => "now".into(),
        ExprKind::Me => "me".into(),
        ExprKind::Name(name) => name.text.clone(),
        ExprKind::Field { base, name } => format!("{}.{}", show(base), name.text),
        ExprKind::Index { base, index } => format!("{}[{}]", show(base), show(index)),
        ExprKind::Call { function, args } => format!("({} {})", function.text, all(args)),
        ExprKind::Old(inner) => format!("(old {})", show(inner)),
        ExprKind::Not(inner) => format!("(not {})", show(inner)),
        ExprKind::Negate(inner) => format!("(- {})", show(inner)),
        ExprKind::And(list) => format!("(and {})", all(list)),
        ExprKind::Or(list) => format!("(or {})", all(list)),
        ExprKind::Binary { op, left, right } => format!("({op:?} {} {})", show(left), show(right)),
        ExprKind::Round { of, mode, digits } => {
            format!("(round {} {} {})", mode.text, show(of), show(digits))
        }
        ExprKind::Presence { of, present: true } => format!("(present {})", show(of)),
        ExprKind::Presence { of, present: false } => format!("(absent {})", show(of)),
        ExprKind::If { condition, then, otherwise } => {
            format!("(if {} {} {})", show(condition), show(then), show(otherwise))
        }
        ExprKind::Let { name, value, body } => {
            format!("(let {} {} {})", name.text, show(value), show(body))
        }
        ExprKind::Quantifier { kind, var, domain: d, filter: f, body } => {
            format!("({kind:?} {} in {}{}: {})", var.text, domain(d), filter(f), show(body))
        }
        ExprKind::Aggregate { kind, value, var, domain: d, filter: f } => {
            let value = value.as_ref().map_or(String::new(), |e| format!("{} of ", show(e)));
            let var = var.as_ref().map_or(String::new(), |name| format!("{} in ", name.text));
            format!("({kind:?} {value}{var}{}{})", domain(d), filter(f))
        }
        ExprKind::Set(list) => format!("{{{}}}", all(list)),
        ExprKind::List(list) => format!("[{}]", all(list)),
        ExprKind::Record(fields) => format!("(record {})", show_fields(fields)),
        ExprKind::Error => "ERROR".into(),
    }
}

pub fn show_fields(fields: &[FieldValue]) -> String {
    let one = |field: &FieldValue| match &field.value {
        Some(value) => format!("{}={}", field.name.text, show(value)),
        None => field.name.text.clone(),
    };
    fields.iter().map(one).collect::<Vec<_>>().join(" ")
}

pub fn show_type(ty: &TypeExpr) -> String {
    let bound =
        |b: &Option<Expr>| b.as_ref().map_or(String::new(), |b| format!(" max {}", show(b)));
    match &ty.kind {
        TypeKind::Named(name) => name.text.clone(),
        TypeKind::Money(name) => format!("money({})", name.text),
        TypeKind::Enumeration(names) => {
            names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join("|")
        }
        TypeKind::Ranged(of, low, high) => {
            format!("{}[{}..{}]", show_type(of), show(low), show(high))
        }
        TypeKind::Optional(inner) => format!("({})?", show_type(inner)),
        TypeKind::List(of, max) => format!("list({}){}", show_type(of), bound(max)),
        TypeKind::Set(of, max) => format!("set({}){}", show_type(of), bound(max)),
        TypeKind::Map(key, value, max) => {
            format!("map({}, {}){}", show_type(key), show_type(value), bound(max))
        }
        TypeKind::Record(fields) => {
            let shown: Vec<String> = fields
                .iter()
                .map(|(name, ty)| format!("{}:{}", name.text, show_type(ty)))
                .collect();
            format!("{{{}}}", shown.join(" "))
        }
        TypeKind::AnyOf(view, args) => {
            let args: Vec<&str> = args.iter().map(|name| name.text.as_str()).collect();
            format!("any of {}({})", view.text, args.join(" "))
        }
        TypeKind::Error => "ERROR".into(),
    }
}

/// Statements in one line each.
pub fn show_block(block: &Block) -> String {
    let one = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Assign { target, op, value } => {
            format!("{op:?} {} {}", show(target), show(value))
        }
        StmtKind::Let { name, value } => format!("let {} {}", name.text, show(value)),
        StmtKind::New { subject, keys, fields } => {
            let keys: Vec<String> = keys.iter().map(show).collect();
            format!("new {}({}) {}", subject.text, keys.join(" "), show_fields(fields))
        }
        StmtKind::Delete { target } => format!("delete {}", show(target)),
        StmtKind::Append { log, fields } => format!("append {} {}", show(log), show_fields(fields)),
        StmtKind::Emit { event, fields } => format!("emit {} {}", event.text, show_fields(fields)),
        StmtKind::Send { each, actor, operation, args } => {
            let args: Vec<String> = args.iter().map(show).collect();
            let each = each.as_ref().map_or(String::new(), |each| {
                let of = each.domain.parent.as_ref();
                let of = of.map_or(String::new(), |e| format!(" of {}", show(e)));
                let filter = each.filter.as_ref();
                let filter = filter.map_or(String::new(), |e| format!(" where {}", show(e)));
                format!("each {} in {}{of}{filter}: ", each.var.text, show(&each.domain.of_what))
            });
            format!("send {each}{}.{}({})", actor.text, operation.text, args.join(" "))
        }
        StmtKind::For { var, domain, body } => {
            let parent =
                domain.parent.as_ref().map_or(String::new(), |e| format!(" of {}", show(e)));
            format!("for {} in {}{parent} {}", var.text, show(&domain.of_what), show_block(body))
        }
        StmtKind::If { condition, then, otherwise } => {
            let otherwise =
                otherwise.as_ref().map_or(String::new(), |b| format!(" else {}", show_block(b)));
            format!("if {} {}{otherwise}", show(condition), show_block(then))
        }
        StmtKind::Error => "ERROR".into(),
    };
    format!("{{{}}}", block.statements.iter().map(one).collect::<Vec<_>>().join("; "))
}
