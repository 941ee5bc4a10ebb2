//! Which places hold values of one kind: what is compared with, or copied to, each other.
//!
//! A place is an attribute, a key part, a field of memory, a parameter or another local. Two
//! places are of one class when a value can come from one to the other, or is told apart from
//! it. A class has one domain in the small world.

mod digests;
mod expressions;
mod fresh;
mod statements;
mod structs;

use std::collections::BTreeSet;

use design::model::{
    ActorId, AttrId, BlobId, Const, Design, Expr, ExprKind, LocalId, MemoryId, OperationId,
    OperationKind, StateId, SubjectId, Type, visit,
};
use rustc_hash::FxHashMap;

pub(crate) use self::structs::fields_of;
use self::structs::in_record;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum PlaceOf {
    Attr(SubjectId, AttrId),
    /// the values of an attribute that is a map
    MapValue(SubjectId, AttrId),
    Key(SubjectId, u32),
    LogEnd(SubjectId, StateId),
    Memory(ActorId, MemoryId),
    Local(Scope, LocalId),
    /// the principal that acts as this actor, at the root of its chain
    Me(ActorId),
    /// what content is stored under, of all that is asked for whether it is
    Blob(BlobId),
    /// a value inside an expression
    Inner(u32),
    /// a field of the records in an attribute that is a list
    AttrField(SubjectId, AttrId, u32),
    /// the same of a local, which is a list of records or one of them
    LocalField(Scope, LocalId, u32),
}
/// Where locals live.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Scope {
    Operation(u32),
    Goal(u32),
    Counter(u32, u32),
}

/// What is known of a class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Class {
    pub(crate) literals: BTreeSet<Const>,
    /// those of them that a member is compared with
    pub(crate) compared: BTreeSet<Const>,
    /// how many opaque values each of its sources gives
    pub(crate) opaque: BTreeSet<u32>,
    pub(crate) ranges: BTreeSet<(i64, i64)>,
    /// `+ 1` of a member
    pub(crate) increments: bool,
    /// the result of other arithmetic flows in: without end
    pub(crate) computed: bool,
    /// a member is an operand of other arithmetic, or an index
    pub(crate) measured: bool,
    /// a member is advanced, and compared before it is kept
    pub(crate) fresh: bool,
    /// values of different records meet
    pub(crate) global: bool,
    /// a member goes into a digest: it stays what it is
    pub(crate) hashed: bool,
    /// members are visited in their order by a statement
    pub(crate) ordered: bool,
    pub(crate) places: Vec<PlaceOf>,
    /// of records in a list: the nodes of their fields
    pub(crate) columns: Vec<u32>,
}

impl Class {
    fn merge(&mut self, other: Class) {
        self.literals.extend(other.literals);
        self.compared.extend(other.compared);
        self.opaque.extend(other.opaque);
        self.ranges.extend(other.ranges);
        self.increments |= other.increments;
        self.computed |= other.computed;
        self.measured |= other.measured;
        self.fresh |= other.fresh;
        self.global |= other.global;
        self.hashed |= other.hashed;
        self.ordered |= other.ordered;
        self.places.extend(other.places);
        if self.columns.is_empty() {
            self.columns = other.columns;
        }
    }
}

/// Whose value it is: of the record that a local refers to, of none (a literal), or unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    Free,
    Record(LocalId),
    Other,
}

#[derive(Clone, Copy)]
struct Value {
    node: Option<u32>,
    owner: Owner,
}

const NOTHING: Value = Value { node: None, owner: Owner::Free };

pub(crate) struct Flow<'a> {
    design: &'a Design,
    nodes: FxHashMap<PlaceOf, u32>,
    up: Vec<u32>,
    classes: Vec<Class>,
    owners: FxHashMap<(Scope, LocalId), Owner>,
    effects: FxHashMap<(Scope, LocalId), OperationId>,
    /// all keys that something is signed or verified with
    signing: Option<u32>,
    /// for each list of types that is hashed: the classes of its parts
    digests: FxHashMap<Vec<Type>, Vec<Option<u32>>>,
}

impl<'a> Flow<'a> {
    pub(crate) fn of(design: &'a Design) -> Flow<'a> {
        let mut flow = Flow {
            design,
            nodes: FxHashMap::default(),
            up: Vec::new(),
            classes: Vec::new(),
            owners: FxHashMap::default(),
            effects: FxHashMap::default(),
            signing: None,
            digests: FxHashMap::default(),
        };
        flow.all_columns();
        flow.subjects();
        for (index, operation) in design.operations.iter().enumerate() {
            let scope = Scope::Operation(index as u32);
            for param in &operation.params {
                flow.owners.insert((scope, param.local), Owner::Other);
            }
            for clause in &operation.guard {
                flow.value(scope, &clause.body);
            }
            match &operation.kind {
                OperationKind::Effect(effect) => {
                    for expr in effect.key.iter().chain(effect.body.iter().map(|(_, e)| e)) {
                        flow.value(scope, expr);
                    }
                    if let Some(sign) = &effect.sign {
                        flow.signing(scope, &sign.key);
                    }
                }
                OperationKind::Read { result } => {
                    flow.value(scope, result);
                }
                OperationKind::Step { .. } | OperationKind::Repair { .. } => {}
            }
            for body in visit::bodies(operation) {
                flow.body(scope, body);
            }
        }
        for (index, goal) in design.goals().enumerate() {
            flow.value(Scope::Goal(index as u32), &goal.body);
        }
        flow.compared_before_kept();
        flow
    }

    fn subjects(&mut self) {
        let design = self.design;
        for (index, subject) in design.subjects.iter().enumerate() {
            let id = SubjectId::of(index);
            for (at, attribute) in subject.attributes.iter().enumerate() {
                let node = self.node(PlaceOf::Attr(id, AttrId::of(at)));
                if let Some(value) = &attribute.default {
                    self.source(node, value);
                }
            }
            for (at, counter) in subject.counters.iter().enumerate() {
                let scope = Scope::Counter(index as u32, at as u32);
                if let Some(filter) = &counter.filter {
                    self.value(scope, filter);
                }
                if let Some(value) = &counter.value {
                    let value = self.value(scope, value);
                    self.measure(value);
                }
            }
        }
    }

    pub(crate) fn node(&mut self, place: PlaceOf) -> u32 {
        if let Some(&node) = self.nodes.get(&place) {
            return node;
        }
        let node = self.up.len() as u32;
        self.nodes.insert(place, node);
        self.up.push(node);
        self.classes.push(Class { places: vec![place], ..Class::default() });
        node
    }

    /// Every place, in an order that does not depend on hashing.
    pub(crate) fn nodes_in_order(&self) -> Vec<(PlaceOf, u32)> {
        let mut nodes: Vec<_> = self.nodes.iter().map(|(place, node)| (*place, *node)).collect();
        nodes.sort_unstable();
        nodes
    }

    fn inner(&mut self) -> u32 {
        self.node(PlaceOf::Inner(self.up.len() as u32))
    }

    pub(crate) fn root(&mut self, node: u32) -> u32 {
        let mut at = node;
        while self.up[at as usize] != at {
            let above = self.up[self.up[at as usize] as usize];
            self.up[at as usize] = above;
            at = above;
        }
        at
    }

    pub(crate) fn class(&mut self, node: u32) -> &mut Class {
        let root = self.root(node);
        &mut self.classes[root as usize]
    }

    fn source(&mut self, node: u32, value: &Const) {
        match value {
            Const::Null => {}
            Const::Set(list) | Const::List(list) => {
                for value in list {
                    self.source(node, value);
                }
            }
            Const::Map(pairs) => {
                for (key, _) in pairs {
                    self.source(node, key);
                }
            }
            value => {
                self.class(node).literals.insert(value.clone());
            }
        }
    }

    fn join(&mut self, left: Value, right: Value) -> Value {
        let (Some(a), Some(b)) = (left.node, right.node) else {
            return if left.node.is_some() { left } else { right };
        };
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.up[b as usize] = a;
            let taken = std::mem::take(&mut self.classes[b as usize]);
            let columns = self.classes[a as usize].columns.iter().zip(&taken.columns);
            let columns: Vec<(u32, u32)> = columns.map(|(a, b)| (*a, *b)).collect();
            self.classes[a as usize].merge(taken);
            for (a, b) in columns {
                self.join(in_record(a), in_record(b));
            }
        }
        let a = self.root(a);
        let owner = match (left.owner, right.owner) {
            (Owner::Free, owner) | (owner, Owner::Free) => owner,
            (Owner::Record(a), Owner::Record(b)) if a == b => left.owner,
            _ => {
                self.classes[a as usize].global = true;
                Owner::Other
            }
        };
        Value { node: Some(a), owner }
    }

    fn measure(&mut self, value: Value) {
        if let Some(node) = value.node {
            self.class(node).measured = true;
        }
    }

    fn computed(&mut self) -> Value {
        let node = self.inner();
        self.class(node).computed = true;
        Value { node: Some(node), owner: Owner::Free }
    }

    /// A number of things, of which there are so many at most.
    fn counted(&mut self, most: i64) -> Value {
        let node = self.inner();
        self.class(node).ranges.insert((0, most));
        Value { node: Some(node), owner: Owner::Free }
    }

    fn of_place(&mut self, place: PlaceOf, owner: Owner) -> Value {
        Value { node: Some(self.node(place)), owner }
    }

    fn local(&mut self, scope: Scope, local: LocalId) -> Value {
        let owner = self.owners.get(&(scope, local)).copied().unwrap_or(Owner::Other);
        self.of_place(PlaceOf::Local(scope, local), owner)
    }

    fn bind(&mut self, scope: Scope, local: LocalId, value: Value) {
        self.owners.insert((scope, local), value.owner);
        let target = Value { node: self.local(scope, local).node, owner: Owner::Free };
        self.join(target, value);
    }

    fn owner_of(base: &Expr) -> Owner {
        match &base.kind {
            ExprKind::Local(local) => Owner::Record(*local),
            ExprKind::Old(inner) => Flow::owner_of(inner),
            _ => Owner::Other,
        }
    }
}
