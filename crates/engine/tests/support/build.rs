//! Designs built by hand, in the model's own types.

use design::model::*;

pub fn span() -> Span {
    Span::default()
}

pub fn design() -> Design {
    Design {
        kind: DesignKind::Design,
        name: "Test".into(),
        title: String::new(),
        header: Header::default(),
        uses: vec![],
        earlier: vec![],
        actors: vec![actor("user")],
        enumerations: vec![],
        blobs: vec![Blob { name: "Content".into(), span: span() }],
        subjects: vec![],
        events: vec![],
        operations: vec![],
        views: vec![],
        defines: vec![],
        protocols: vec![],
        invariants: vec![],
        recoveries: vec![],
        leads: vec![],
        failures: vec![],
        defences: vec![],
        hotspots: vec![],
        world: World::default(),
        worlds: vec![],
        span: span(),
    }
}

pub fn actor(name: &str) -> Actor {
    Actor {
        name: name.into(),
        continues: None,
        apart: vec![],
        memory: vec![],
        is_world: false,
        span: span(),
    }
}

/// A subject with one state of truth.
pub fn subject(
    name: &str,
    keys: &[(&str, Type)],
    attributes: &[(&str, Type, Option<Const>)],
) -> Subject {
    let mut subject = Subject {
        name: name.into(),
        keys: keys
            .iter()
            .map(|(name, ty)| Key {
                name: (*name).into(),
                ty: ty.clone(),
                range: None,
                span: span(),
            })
            .collect(),
        parent: keys[0].1.subject(),
        place: None,
        states: vec![],
        attributes: vec![],
        counters: vec![],
        implicit: false,
        span: span(),
    };
    state(&mut subject, "Truth", StateKind::Truth, attributes);
    subject
}

pub fn state(
    subject: &mut Subject,
    name: &str,
    kind: StateKind,
    attributes: &[(&str, Type, Option<Const>)],
) -> StateId {
    let id = StateId::of(subject.states.len());
    let first = subject.attributes.len();
    for (name, ty, default) in attributes {
        subject.attributes.push(Attribute {
            name: (*name).into(),
            ty: ty.clone(),
            range: None,
            state: id,
            default: default.clone(),
            span: span(),
        });
    }
    subject.states.push(State {
        volatile: false,
        kind,
        name: name.into(),
        attributes: (first..subject.attributes.len()).map(AttrId::of).collect(),
        visible: vec![],
        span: span(),
    });
    id
}

pub fn optional(ty: Type) -> Type {
    Type::Optional(Box::new(ty))
}

pub fn set_of(of: Type, max: u32) -> Type {
    Type::Set { of: Box::new(of), max }
}

pub fn list_of(of: Type, max: u32) -> Type {
    Type::List { of: Box::new(of), max }
}

pub fn map_of(key: Type, value: Type, max: u32) -> Type {
    Type::Map { key: Box::new(key), value: Box::new(value), max }
}

/// A step of actor 0; `(name, type, new)`.
pub fn step(name: &str, params: &[(&str, Type, bool)]) -> Operation {
    Operation {
        rate: None,
        hears: None,
        each: None,
        kind: OperationKind::Step { keyed: false },
        actor: ActorId(0),
        name: name.into(),
        params: params
            .iter()
            .enumerate()
            .map(|(index, (name, ty, new))| Param {
                name: (*name).into(),
                ty: ty.clone(),
                range: None,
                new: *new,
                from_caller: false,
                default: None,
                generated: None,
                local: LocalId::of(index),
                span: span(),
            })
            .collect(),
        locals: params
            .iter()
            .map(|(name, ty, _)| Local { name: (*name).into(), ty: ty.clone() })
            .collect(),
        guard: vec![],
        body: vec![],
        memory: vec![],
        span: span(),
        head: span(),
    }
}

pub trait OperationBuild: Sized {
    fn when(self, name: &str, body: Expr) -> Self;
    fn does(self, kind: StmtKind) -> Self;
}

impl OperationBuild for Operation {
    fn when(mut self, name: &str, body: Expr) -> Operation {
        self.guard.push(Clause { name: name.into(), body, span: span() });
        self
    }

    fn does(mut self, kind: StmtKind) -> Operation {
        self.body.push(Stmt { id: StmtId::of(self.body.len()), kind, span: span() });
        self
    }
}

pub fn local_of(operation: &mut Operation, ty: Type) -> LocalId {
    operation.locals.push(Local { name: "it".into(), ty });
    LocalId::of(operation.locals.len() - 1)
}

pub fn stmt(kind: StmtKind) -> Stmt {
    Stmt { id: StmtId(99), kind, span: span() }
}

pub fn expr(kind: ExprKind, ty: Type) -> Expr {
    Expr { kind, ty, span: span() }
}

pub fn int(value: i64) -> Expr {
    expr(ExprKind::Literal(Const::Int(value)), Type::Int)
}

pub fn duration(value: i64) -> Expr {
    expr(ExprKind::Literal(Const::Duration(value)), Type::Duration)
}

pub fn text(value: &str) -> Expr {
    expr(ExprKind::Literal(Const::Text(value.into())), Type::Text)
}

pub fn truth_value(value: bool) -> Expr {
    expr(ExprKind::Literal(Const::Bool(value)), Type::Bool)
}

pub fn null() -> Expr {
    expr(ExprKind::Literal(Const::Null), Type::Null)
}

pub fn now() -> Expr {
    expr(ExprKind::Now, Type::Time)
}

pub fn me() -> Expr {
    expr(ExprKind::Me, Type::Actor)
}

pub fn local(id: u32, ty: Type) -> Expr {
    expr(ExprKind::Local(LocalId(id)), ty)
}

pub fn record(id: u32, subject: u32) -> Expr {
    local(id, Type::Ref(SubjectId(subject)))
}

pub fn attr(base: Expr, id: u32, ty: Type) -> Expr {
    expr(ExprKind::Attr { base: Box::new(base), attr: AttrId(id) }, ty)
}

pub fn compare(op: CompareOp, left: Expr, right: Expr) -> Expr {
    expr(ExprKind::Compare { op, left: Box::new(left), right: Box::new(right) }, Type::Bool)
}

pub fn equal(left: Expr, right: Expr) -> Expr {
    compare(CompareOp::Equal, left, right)
}

pub fn differ(left: Expr, right: Expr) -> Expr {
    compare(CompareOp::NotEqual, left, right)
}

pub fn less(left: Expr, right: Expr) -> Expr {
    compare(CompareOp::Less, left, right)
}

pub fn at_least(left: Expr, right: Expr) -> Expr {
    compare(CompareOp::GreaterEqual, left, right)
}

pub fn and(parts: Vec<Expr>) -> Expr {
    expr(ExprKind::And(parts), Type::Bool)
}

pub fn or(parts: Vec<Expr>) -> Expr {
    expr(ExprKind::Or(parts), Type::Bool)
}

pub fn not(inner: Expr) -> Expr {
    expr(ExprKind::Not(Box::new(inner)), Type::Bool)
}

pub fn arithmetic(op: ArithmeticOp, left: Expr, right: Expr, ty: Type) -> Expr {
    expr(ExprKind::Arithmetic { op, left: Box::new(left), right: Box::new(right) }, ty)
}

pub fn plus(left: Expr, right: Expr) -> Expr {
    let ty = left.ty.clone();
    arithmetic(ArithmeticOp::Add, left, right, ty)
}

pub fn old(inner: Expr) -> Expr {
    let ty = inner.ty.clone();
    expr(ExprKind::Old(Box::new(inner)), ty)
}

/// `all` or `any` over a domain.
pub fn quantified(all: bool, id: u32, domain: Domain, body: Expr) -> Expr {
    let kind = ExprKind::Quantifier {
        all,
        local: LocalId(id),
        domain: Box::new(domain),
        filter: None,
        body: Box::new(body),
    };
    expr(kind, Type::Bool)
}

pub fn aggregate(id: u32, domain: Domain, filter: Option<Expr>, value: Option<Expr>) -> Expr {
    let kind = ExprKind::Aggregate {
        local: LocalId(id),
        domain: Box::new(domain),
        filter: filter.map(Box::new),
        value: value.map(Box::new),
    };
    expr(kind, Type::Int)
}

pub fn assign(base: Expr, id: u32, value: Expr) -> StmtKind {
    change(base, id, AssignOp::Set, value)
}

pub fn change(base: Expr, id: u32, op: AssignOp, value: Expr) -> StmtKind {
    StmtKind::Assign { target: Target::Attr { base, attr: AttrId(id) }, op, value }
}

pub fn invariant(name: &str, locals: Vec<Local>, uses_old: bool, body: Expr) -> Invariant {
    Invariant { name: name.into(), body, locals, uses_old, family: None, span: span() }
}
