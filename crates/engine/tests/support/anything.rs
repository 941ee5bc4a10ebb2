//! Random designs.

use design::model::*;
use engine::{NULL, Word};

use super::build::*;
use super::random::Random;

pub const SUBJECTS: u64 = 3;
const ATTRIBUTES: u64 = 7;
pub(super) const LOCALS: u64 = 6;

/// What an expression is wanted for.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Want {
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
    pub(super) fn ty(&mut self, depth: u32) -> Type {
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

    pub(super) fn some(&mut self, want: Want, depth: u32) -> Vec<Expr> {
        (0..self.random.below(4)).map(|_| self.expr(want, depth)).collect()
    }

    pub(super) fn any(&mut self) -> Want {
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

    pub(super) fn local(&mut self) -> LocalId {
        LocalId(self.random.below(LOCALS) as u32)
    }

    pub(super) fn attr(&mut self) -> AttrId {
        AttrId(self.random.below(ATTRIBUTES) as u32)
    }

    pub(super) fn fits(want: Want, ty: &Type) -> bool {
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

    pub(super) fn expr(&mut self, want: Want, depth: u32) -> Expr {
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
        match self.random.below(13) {
            0 => ExprKind::Exists { base: self.boxed(Want::Reference, depth), cache: None },
            1 => {
                let mut digest = self.expr(Want::Number, depth);
                digest.ty = Type::Digest(BlobId(0));
                ExprKind::Stored(Box::new(digest))
            }
            11 => {
                let [signature, key] = [(); 2].map(|()| self.boxed(Want::Number, depth));
                let over = self.some(Want::Number, depth);
                let over = Box::new(expr(ExprKind::Hash(over), Type::Hash));
                ExprKind::Verified { signature, key, over }
            }
            12 => {
                let [leaf, root, proof] = [(); 3].map(|()| self.boxed(Want::Number, depth));
                ExprKind::Included { leaf, root, proof }
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
                let rounding = Rounding {
                    mode: self.random.pick(&RoundingMode::ALL).0,
                    digits: self.random.below(8) as u8,
                };
                let rounded = [MultiplyRounded(rounding), DivideRounded(rounding)];
                let plain = [Add, Subtract, Multiply, Divide];
                let op = self.random.pick(&[&plain[..], &rounded].concat());
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
}
