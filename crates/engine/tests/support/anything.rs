//! Random designs.

use design::model::*;
use engine::{NULL, Word};

use super::build::*;
use super::random::Random;

pub const SUBJECTS: u64 = 3;
const ATTRIBUTES: u64 = 7;
const LOCALS: u64 = 6;

/// What an expression is wanted for.
#[derive(Clone, Copy, PartialEq)]
enum Want {
    Bool,
    Number,
    Reference,
    Block,
}

/// Expressions that mostly fit together, and sometimes not at all: what is well typed must work,
/// all else must not panic.
pub struct Anything<'a> {
    pub random: &'a mut Random,
    pub invariant: bool,
    pub attributes: Vec<Vec<Type>>,
    pub locals: Vec<Type>,
}

impl Anything<'_> {
    fn ty(&mut self, depth: u32) -> Type {
        match self.random.below(if depth == 0 { 6 } else { 10 }) {
            0 => Type::Bool,
            1 => Type::Time,
            2 => Type::Decimal,
            3 => Type::Ref(SubjectId(self.random.below(SUBJECTS) as u32)),
            4 => Type::Enum(EnumId(0)),
            5 => Type::Int,
            6 => optional(self.ty(0)),
            7 => set_of(self.ty(0), self.random.below(4) as u32),
            8 => list_of(self.ty(0), self.random.below(4) as u32),
            _ => map_of(self.ty(0), self.ty(0), self.random.below(3) as u32),
        }
    }

    pub fn word(&mut self) -> Word {
        let small = self.random.below(4) as Word;
        self.random.pick(&[small, small, small, small, NULL, NULL + 1, Word::MAX, -(1 << 62)])
    }

    fn constant(&mut self, want: Want) -> (Const, Type) {
        let word = self.word();
        match want {
            _ if self.random.chance(8) => (Const::Null, Type::Null),
            Want::Bool => (Const::Bool(word == 1), Type::Bool),
            Want::Block => {
                (Const::Set(vec![Const::Int(word), Const::Int(3)]), set_of(Type::Int, 2))
            }
            _ if self.random.chance(4) => (Const::Decimal(word), Type::Decimal),
            _ => (Const::Int(word), Type::Int),
        }
    }

    fn boxed(&mut self, want: Want, depth: u32) -> Box<Expr> {
        Box::new(self.expr(want, depth))
    }

    fn some(&mut self, want: Want, depth: u32) -> Vec<Expr> {
        (0..self.random.below(4)).map(|_| self.expr(want, depth)).collect()
    }

    fn any(&mut self) -> Want {
        self.random.pick(&[Want::Bool, Want::Number, Want::Reference, Want::Block])
    }

    fn domain(&mut self, depth: u32) -> Box<Domain> {
        Box::new(match self.random.below(5) {
            0 if self.invariant => Domain::All(SubjectId(self.random.below(SUBJECTS) as u32)),
            1 if self.invariant => {
                Domain::Children { child: SubjectId(1), parent: self.expr(Want::Reference, depth) }
            }
            2 if self.invariant => Domain::World(OperationId(1)),
            _ => Domain::Elements(self.expr(Want::Block, depth)),
        })
    }

    fn local(&mut self) -> LocalId {
        LocalId(self.random.below(LOCALS) as u32)
    }

    fn attr(&mut self) -> AttrId {
        AttrId(self.random.below(ATTRIBUTES) as u32)
    }

    fn fits(want: Want, ty: &Type) -> bool {
        match ty.required() {
            Type::Ref(_) => want == Want::Reference,
            Type::Bool => want == Want::Bool,
            Type::Set { .. } | Type::List { .. } | Type::Map { .. } => want == Want::Block,
            _ => want == Want::Number,
        }
    }

    fn local_expr(&mut self, want: Want) -> Option<Expr> {
        let at = self.locals.iter().position(|ty| Self::fits(want, ty))?;
        let at = if self.random.chance(3) { self.local().index() } else { at };
        Some(local(at as u32, self.locals.get(at)?.clone()))
    }

    fn attribute(&mut self, want: Want, depth: u32) -> Option<Expr> {
        let base = self.expr(Want::Reference, depth);
        let types = self.attributes.get(base.ty.subject()?.index())?.clone();
        let fitting: Vec<usize> =
            (0..types.len()).filter(|index| Self::fits(want, &types[*index])).collect();
        if fitting.is_empty() {
            return None;
        }
        let id = self.random.pick(&fitting);
        Some(attr(base, id as u32, types[id].clone()))
    }

    fn expr(&mut self, want: Want, depth: u32) -> Expr {
        let want = if self.random.chance(40) { self.any() } else { want };
        if depth > 0 && self.random.chance(8) {
            return self.either(want, depth - 1);
        }
        if self.random.chance(3)
            && let Some(found) = if depth == 0 || self.random.chance(2) {
                self.local_expr(want)
            } else {
                self.attribute(want, depth - 1)
            }
        {
            return found;
        }
        if depth == 0 {
            let (value, ty) = self.constant(want);
            return expr(ExprKind::Literal(value), ty);
        }
        let (kind, ty) = match want {
            Want::Bool => (self.condition(depth - 1), Type::Bool),
            Want::Number => self.number(depth - 1),
            Want::Reference => {
                let subject = SubjectId(self.random.below(SUBJECTS) as u32);
                match self.local_expr(want) {
                    Some(found) => return found,
                    None => (ExprKind::Literal(Const::Int(1)), Type::Ref(subject)),
                }
            }
            Want::Block => {
                let items = self.some(Want::Number, depth - 1);
                let max = items.len() as u32;
                match self.random.below(2) {
                    0 => (ExprKind::Set(items), set_of(Type::Int, max)),
                    _ => (ExprKind::List(items), list_of(Type::Int, max)),
                }
            }
        };
        expr(kind, ty)
    }

    fn either(&mut self, want: Want, depth: u32) -> Expr {
        let body = self.expr(want, depth);
        let ty = body.ty.clone();
        let kind = match self.random.below(3) {
            0 => ExprKind::If {
                condition: self.boxed(Want::Bool, depth),
                then: self.boxed(want, depth),
                otherwise: Box::new(body),
            },
            1 => {
                let local = self.local();
                ExprKind::Let {
                    local,
                    value: self.boxed(Want::Number, depth),
                    body: Box::new(body),
                }
            }
            _ if self.invariant => ExprKind::Old(Box::new(body)),
            _ => return body,
        };
        expr(kind, ty)
    }

    fn condition(&mut self, depth: u32) -> ExprKind {
        use CompareOp::*;
        match self.random.below(11) {
            0 => ExprKind::Exists { base: self.boxed(Want::Reference, depth), cache: None },
            1 => {
                let mut digest = self.expr(Want::Number, depth);
                digest.ty = Type::Digest(BlobId(0));
                ExprKind::Stored(Box::new(digest))
            }
            2 => {
                let want = self.any();
                ExprKind::IsNull(self.boxed(want, depth))
            }
            3 => ExprKind::Not(self.boxed(Want::Bool, depth)),
            4 => ExprKind::And(self.some(Want::Bool, depth)),
            5 => ExprKind::Or(self.some(Want::Bool, depth)),
            6 => ExprKind::Implies(self.boxed(Want::Bool, depth), self.boxed(Want::Bool, depth)),
            7 => ExprKind::In {
                item: self.boxed(Want::Number, depth),
                collection: self.boxed(Want::Block, depth),
            },
            8 => ExprKind::Quantifier {
                all: self.random.chance(2),
                local: self.local(),
                domain: self.domain(depth),
                filter: None,
                body: self.boxed(Want::Bool, depth),
            },
            9 => {
                let want = self.any();
                let op = self.random.pick(&[Equal, NotEqual]);
                ExprKind::Compare {
                    op,
                    left: self.boxed(want, depth),
                    right: self.boxed(want, depth),
                }
            }
            _ => ExprKind::Compare {
                op: self.random.pick(&[Less, LessEqual, Greater, GreaterEqual]),
                left: self.boxed(Want::Number, depth),
                right: self.boxed(Want::Number, depth),
            },
        }
    }

    fn number(&mut self, depth: u32) -> (ExprKind, Type) {
        use ArithmeticOp::*;
        let kind = match self.random.below(14) {
            0 => ExprKind::Now,
            1 => ExprKind::Me,
            2 => ExprKind::Memory(MemoryUseId(0)),
            3 => ExprKind::WorldArg { local: self.local(), param: 0 },
            4 => ExprKind::KeyPart { base: self.boxed(Want::Reference, depth), part: 0 },
            5 => ExprKind::LogEnd { base: self.boxed(Want::Reference, depth), log: StateId(1) },
            6 => ExprKind::Negate(self.boxed(Want::Number, depth)),
            7 | 8 => {
                let op = self.random.pick(&[Add, Subtract, Multiply, Divide]);
                let left = self.boxed(Want::Number, depth);
                let ty = left.ty.clone();
                let right = self.boxed(Want::Number, depth);
                return (ExprKind::Arithmetic { op, left, right }, ty);
            }
            9 => ExprKind::Min(self.some(Want::Number, depth)),
            10 => ExprKind::Max(self.some(Want::Number, depth)),
            11 => ExprKind::Aggregate {
                local: self.local(),
                domain: self.domain(depth),
                filter: Some(self.boxed(Want::Bool, depth)),
                value: Some(self.boxed(Want::Number, depth)),
            },
            12 => {
                let mut base = self.boxed(Want::Reference, depth);
                base.ty = Type::Ref(SubjectId(0));
                ExprKind::Counter { base, counter: CounterId(0) }
            }
            _ if self.random.chance(2) => ExprKind::Size(self.boxed(Want::Block, depth)),
            _ => ExprKind::Index {
                base: self.boxed(Want::Block, depth),
                index: self.boxed(Want::Number, depth),
            },
        };
        (kind, Type::Int)
    }

    fn stmt(&mut self, depth: u32) -> Stmt {
        use AssignOp::*;
        let op = self.random.pick(&[Set, Add, Subtract]);
        let base = self.expr(Want::Reference, 1);
        let id = self.attr();
        let types = base.ty.subject().and_then(|subject| self.attributes.get(subject.index()));
        let wants = match types.and_then(|types| types.get(id.index())) {
            Some(ty) if Self::fits(Want::Bool, ty) => Want::Bool,
            Some(ty) if Self::fits(Want::Reference, ty) => Want::Reference,
            Some(ty) if Self::fits(Want::Block, ty) && op == Set => Want::Block,
            _ => Want::Number,
        };
        let kind = match self.random.below(if depth == 0 { 8 } else { 10 }) {
            0..=2 => StmtKind::Assign {
                target: Target::Attr { base, attr: id },
                op,
                value: self.expr(wants, 2),
            },
            3 => StmtKind::Assign {
                target: Target::Element { base, attr: id, key: self.expr(Want::Number, 1) },
                op,
                value: self.expr(Want::Number, 2),
            },
            4 => StmtKind::Assign {
                target: Target::Memory(MemoryUseId(0)),
                op,
                value: self.expr(Want::Number, 1),
            },
            5 => StmtKind::New {
                subject: SubjectId(1),
                keys: vec![self.expr(Want::Reference, 1), self.expr(Want::Number, 0)],
                fields: vec![(self.attr(), self.expr(wants, 1))],
            },
            6 => StmtKind::Delete { target: base },
            7 => StmtKind::Append {
                base,
                log: StateId(1),
                fields: vec![(AttrId(5), self.expr(wants, 1))],
            },
            8 => StmtKind::For {
                local: self.local(),
                domain: self.expr(Want::Block, 1),
                body: vec![self.stmt(depth - 1)],
            },
            _ => StmtKind::If {
                condition: self.expr(Want::Bool, 1),
                then: vec![self.stmt(depth - 1)],
                otherwise: vec![self.stmt(depth - 1)],
            },
        };
        stmt(kind)
    }

    fn subject(&mut self, name: &str, parent: bool) -> Subject {
        let key = if parent { Type::Ref(SubjectId(0)) } else { Type::Text };
        let attributes: Vec<(&str, Type, Option<Const>)> =
            (0..5).map(|_| ("a", self.ty(1), None)).collect();
        let mut subject = subject(name, &[("key", key), ("part", Type::Int)], &attributes);
        state(
            &mut subject,
            "Log",
            StateKind::Log { retain: Retention::Entries(2) },
            &[("entry", self.ty(1), None)],
        );
        state(
            &mut subject,
            "Cache",
            StateKind::Cache { at: ActorId(0) },
            &[("c", self.ty(1), None)],
        );
        subject.implicit = self.random.chance(3);
        subject
    }

    pub fn design(&mut self) -> Design {
        let mut design = design();
        let constants = vec!["A".into(), "B".into()];
        design.enumerations.push(Enumeration { name: "e".into(), constants, span: span() });
        design.subjects =
            vec![self.subject("P", false), self.subject("C", true), self.subject("O", false)];
        let locals = || -> Vec<Local> {
            (0..LOCALS).map(|_| Local { name: "l".into(), ty: Type::Ref(SubjectId(1)) }).collect()
        };
        self.attributes = design
            .subjects
            .iter()
            .map(|subject| subject.attributes.iter().map(|attr| attr.ty.clone()).collect())
            .collect();
        self.locals = vec![Type::Ref(SubjectId(1)); LOCALS as usize];
        design.subjects[0].counters.push(Counter {
            child: SubjectId(1),
            filter: Some(self.expr(Want::Bool, 2)),
            value: Some(self.expr(Want::Number, 2)),
            locals: locals(),
        });
        for index in 0..3 {
            let second = ("b", self.ty(1), false);
            let first = Type::Ref(SubjectId(self.random.below(SUBJECTS) as u32));
            let made = index == 0 && self.random.chance(2);
            let params = [("a", first, made), second];
            let mut operation = step("op", if index == 2 { &params[..1] } else { &params });
            while operation.locals.len() < LOCALS as usize {
                let ty = self.ty(1);
                local_of(&mut operation, ty);
            }
            self.locals = operation.locals.iter().map(|local| local.ty.clone()).collect();
            if self.random.chance(2) {
                operation = operation.when("g", self.expr(Want::Bool, 3));
            }
            operation.body = (0..self.random.below(4)).map(|_| self.stmt(2)).collect();
            operation.memory = vec![MemoryUse {
                actor: ActorId(0),
                field: MemoryId(0),
                of: Some(LocalId(0)),
                read: true,
                written: true,
            }];
            if index == 1 {
                let on_ok = Answer { param: None, body: vec![self.stmt(1)], written: true };
                operation.kind = OperationKind::Effect(Box::new(Effect {
                    method: String::new(),
                    url: String::new(),
                    key: self.some(Want::Number, 1),
                    body: vec![("x".into(), self.expr(Want::Number, 2))],
                    on_ok,
                    on_refused: Answer::default(),
                    on_unknown: Answer::default(),
                }));
            }
            if index == 0 && self.random.chance(3) {
                operation.kind = OperationKind::Read { result: self.expr(Want::Number, 3) };
            }
            design.operations.push(operation);
        }
        self.invariant = true;
        self.locals = vec![Type::Ref(SubjectId(1)); LOCALS as usize];
        design.invariants.push(invariant("i", locals(), true, self.expr(Want::Bool, 4)));
        self.invariant = false;
        design
    }
}
