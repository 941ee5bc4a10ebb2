//! Random statements and the designs they stand in.

use design::model::*;

use super::anything::{Anything, LOCALS, SUBJECTS, Want};
use super::build::*;

impl Anything<'_> {
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
        let range = Range { low: -5, high: self.random.below(9) as i64 };
        for attribute in &mut subject.attributes {
            let number = matches!(attribute.ty.required(), Type::Int | Type::Duration);
            attribute.range = (number && self.random.chance(2)).then_some(range);
        }
        subject.keys[1].range = self.random.chance(3).then_some(range);
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
                let on_ok =
                    Answer { param: None, range: None, body: vec![self.stmt(1)], written: true };
                operation.kind = OperationKind::Effect(Box::new(Effect {
                    method: String::new(),
                    url: String::new(),
                    key: self.some(Want::Number, 1),
                    body: vec![("x".into(), self.expr(Want::Number, 2))],
                    sign: None,
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
