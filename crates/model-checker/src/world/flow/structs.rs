//! Records in a list: each field is a place of its own.

use design::model::{AttrId, Expr, Local, LocalId, StructField, SubjectId, Type};

use super::{Flow, NOTHING, Owner, PlaceOf, Scope, Value};

/// Whose record a field is of does not matter: it is never kept by rank.
pub(super) fn in_record(node: u32) -> Value {
    Value { node: Some(node), owner: Owner::Other }
}

/// Of a list of records, or of one of them.
pub(crate) fn fields_of(ty: &Type) -> &[StructField] {
    match ty.required() {
        Type::Struct(fields) => fields,
        list => list.fields().unwrap_or(&[]),
    }
}

impl Flow<'_> {
    /// A place for each field of each attribute and local that holds records.
    pub(super) fn all_columns(&mut self) {
        let design = self.design;
        for (index, subject) in design.subjects.iter().enumerate() {
            let id = SubjectId::of(index);
            for (at, attribute) in subject.attributes.iter().enumerate() {
                let attr = AttrId::of(at);
                let field = |field| PlaceOf::AttrField(id, attr, field);
                self.columns(PlaceOf::Attr(id, attr), fields_of(&attribute.ty), field);
            }
            for (at, counter) in subject.counters.iter().enumerate() {
                self.locals(Scope::Counter(index as u32, at as u32), &counter.locals);
            }
        }
        for (index, operation) in design.operations.iter().enumerate() {
            self.locals(Scope::Operation(index as u32), &operation.locals);
        }
        for (index, goal) in design.goals().enumerate() {
            self.locals(Scope::Goal(index as u32), &goal.locals);
        }
    }

    fn locals(&mut self, scope: Scope, locals: &[Local]) {
        for (at, local) in locals.iter().enumerate() {
            let id = LocalId::of(at);
            let field = |field| PlaceOf::LocalField(scope, id, field);
            self.columns(PlaceOf::Local(scope, id), fields_of(&local.ty), field);
        }
    }

    fn columns(&mut self, place: PlaceOf, fields: &[StructField], field: impl Fn(u32) -> PlaceOf) {
        if fields.is_empty() {
            return;
        }
        let columns: Vec<u32> = (0..fields.len() as u32)
            .map(|at| {
                let node = self.node(field(at));
                let class = self.class(node);
                // how far values lie apart may matter, and each record of a list has its own
                class.measured = true;
                class.global = true;
                node
            })
            .collect();
        let node = self.node(place);
        self.class(node).columns = columns;
    }

    /// `line.qty`
    pub(super) fn field(&mut self, scope: Scope, base: &Expr, field: u32) -> Value {
        let Some(node) = self.value(scope, base).node else { return NOTHING };
        let column = self.class(node).columns.get(field as usize).copied();
        column.map_or(NOTHING, in_record)
    }

    /// `{ sku: sku, qty: 2 }`
    pub(super) fn record(&mut self, scope: Scope, fields: &[(String, Expr)]) -> Value {
        let columns: Vec<u32> = fields
            .iter()
            .map(|(_, value)| {
                let value = self.value(scope, value);
                value.node.unwrap_or_else(|| self.inner())
            })
            .collect();
        let node = self.inner();
        self.class(node).columns = columns;
        Value { node: Some(node), owner: Owner::Free }
    }
}
