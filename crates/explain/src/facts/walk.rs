//! Through guard and body, once.

use design::model::visit::children;
use design::model::*;

use super::guard;
use super::{Facts, Origin, Place, Read, ReadOf, Send, Unit, Write};

pub fn run<'a>(unit: &Unit<'a>, facts: &mut Facts<'a>) {
    let mut walk = Walk { unit: *unit, facts, in_guard: true, in_loop: false, when: Vec::new() };
    for param in &unit.operation.params {
        if param.ty.subject().is_some() {
            let local =
                Expr { kind: ExprKind::Local(param.local), ty: param.ty.clone(), span: param.span };
            let place = walk.place(&local);
            walk.read(place, ReadOf::Presence);
            if param.new {
                walk.parent_of_new(param, local);
            }
        }
    }
    for clause in &unit.operation.guard {
        walk.expr(&clause.body);
    }
    guard::run(unit, walk.facts);
    walk.in_guard = false;
    if let OperationKind::Read { result } = &unit.operation.kind {
        walk.expr(result);
    }
    walk.block(unit.body());
}

struct Walk<'a, 'f> {
    unit: Unit<'a>,
    facts: &'f mut Facts<'a>,
    in_guard: bool,
    in_loop: bool,
    when: Vec<(&'a Expr, bool)>,
}

impl<'a> Walk<'a, '_> {
    fn place(&mut self, base: &Expr) -> Option<usize> {
        place(&self.unit, self.facts, base)
    }

    /// A child is made only while its parent is there: that is read. Not where the same call may make
    /// the parent.
    fn parent_of_new(&mut self, param: &Param, child: Expr) {
        let parent = param.ty.subject().and_then(|id| self.unit.design.explicit_parent(id));
        let Some(parent) = parent else { return };
        let makes = |other: &Param| other.new && other.ty.subject() == Some(parent);
        if self.unit.operation.params.iter().any(makes) {
            return;
        }
        let (base, span) = (Box::new(child), param.span);
        let kind = ExprKind::KeyPart { base, part: 0 };
        let place = self.place(&Expr { kind, ty: Type::Ref(parent), span });
        self.read(place, ReadOf::Presence);
    }

    fn read(&mut self, place: Option<usize>, of: ReadOf) {
        let Some(place) = place else { return };
        let in_guard = self.in_guard;
        let known = |r: &Read| r.place == place && r.of == of && r.in_guard == in_guard;
        if !self.facts.reads.iter().any(known) {
            self.facts.reads.push(Read { place, of, in_guard });
        }
    }

    fn block(&mut self, block: &'a [Stmt]) {
        for stmt in block {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, op, value } => {
                self.expr(value);
                self.assign(target, *op, value);
            }
            StmtKind::Let { local, value } => {
                self.expr(value);
                self.facts.lets.insert(*local, value);
            }
            StmtKind::New { subject, keys, fields } => {
                keys.iter().for_each(|key| self.expr(key));
                if self.unit.design.explicit_parent(*subject).is_some() {
                    let parent = keys.first().and_then(|key| self.place(key));
                    self.read(parent, ReadOf::Presence);
                }
                let base = Expr {
                    kind: ExprKind::Keyed { subject: *subject, key: keys.clone() },
                    ty: Type::Ref(*subject),
                    span: stmt.span,
                };
                let scope = self.unit.scope();
                let keys: Vec<String> = keys.iter().map(|key| scope.text(key)).collect();
                let name = &self.unit.design.subjects[subject.index()].name;
                let path = format!("{name}({})", keys.join(", "));
                let origin = Origin::Made { in_loop: self.in_loop };
                let place = add(self.facts, Place { subject: *subject, path, origin, base });
                for (attr, value) in fields {
                    self.expr(value);
                    self.write(place, *attr, AssignOp::Set, value);
                }
            }
            StmtKind::Delete { target } => {
                self.expr(target);
                if let Some(place) = self.place(target) {
                    self.facts.deletes.push(place);
                }
            }
            StmtKind::Append { base, log, fields } => {
                self.expr(base);
                fields.iter().for_each(|(_, value)| self.expr(value));
                if let Some(place) = self.place(base) {
                    self.facts.appends.push((place, *log));
                }
            }
            StmtKind::Emit { event, fields } => {
                fields.iter().for_each(|(_, value)| self.expr(value));
                self.facts.emits.push(*event);
            }
            StmtKind::Send { operation, args } => {
                args.iter().for_each(|arg| self.expr(arg));
                let fresh = self.key_is_fresh(*operation, args);
                self.facts.sends.push(Send { operation: *operation, args, fresh });
            }
            StmtKind::For { domain, body, .. } => {
                self.expr(domain);
                let outer = std::mem::replace(&mut self.in_loop, true);
                self.block(body);
                self.in_loop = outer;
            }
            StmtKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.when.push((condition, true));
                self.block(then);
                self.when.pop();
                self.when.push((condition, false));
                self.block(otherwise);
                self.when.pop();
            }
        }
    }

    fn assign(&mut self, target: &'a Target, op: AssignOp, value: &'a Expr) {
        match target {
            Target::Attr { base, attr } => {
                self.expr(base);
                if let Some(place) = self.place(base) {
                    self.write(place, *attr, op, value);
                }
            }
            Target::Element { base, attr, key } => {
                self.expr(base);
                self.expr(key);
                if let Some(place) = self.place(base) {
                    self.write(place, *attr, op, value);
                }
            }
            Target::Memory(memory) => {
                let source = match &self.facts.resolve(value).kind {
                    ExprKind::Attr { base, attr } => self.place(base).map(|place| (place, *attr)),
                    _ => None,
                };
                self.facts.hands.push((*memory, source));
            }
        }
    }

    fn write(&mut self, place: usize, attr: AttrId, op: AssignOp, value: &'a Expr) {
        let value = self.facts.resolve(value);
        self.facts.writes.push(Write { place, attr, op, value, when: self.when.clone() });
    }

    /// Does the key of this effect name a record that is made here?
    fn key_is_fresh(&mut self, operation: OperationId, args: &'a [Expr]) -> bool {
        let sent = &self.unit.design.operations[operation.index()];
        let OperationKind::Effect(effect) = &sent.kind else { return true };
        effect.key.iter().any(|part| {
            let ExprKind::Local(local) = part.kind else { return false };
            let at = sent.params.iter().position(|param| param.local == local);
            let Some(arg) = at.and_then(|at| args.get(at)) else { return false };
            let place = self.place(arg);
            place.is_some_and(|place| self.facts.places[place].is_made())
        })
    }

    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Attr { base, attr } => {
                let place = self.place(base);
                self.read(place, ReadOf::Attr(*attr));
            }
            ExprKind::LogEnd { base, log } | ExprKind::LogStart { base, log } => {
                let place = self.place(base);
                self.read(place, ReadOf::Log(*log));
            }
            ExprKind::LogSlice { base, log, .. } => {
                let place = self.place(base);
                self.read(place, ReadOf::LogEntries(*log));
            }
            ExprKind::Exists { base, .. } => {
                let place = self.place(base);
                self.read(place, ReadOf::Presence);
            }
            ExprKind::Counter { base, counter } => {
                let place = self.place(base);
                self.read(place, ReadOf::Counter(*counter));
            }
            ExprKind::View { view, .. } => self.facts.views.push(*view),
            ExprKind::Stored(digest) => {
                if let Type::Digest(blob) = digest.ty.required() {
                    self.facts.blobs.push(*blob);
                }
            }
            _ => {}
        }
        children(expr, &mut |child| self.expr(child));
    }
}

/// The place that a base leads to.
pub fn place<'a>(unit: &Unit<'a>, facts: &mut Facts<'a>, base: &Expr) -> Option<usize> {
    let subject = base.ty.subject()?;
    if let ExprKind::Local(local) = base.kind
        && let Some(value) = facts.lets.get(&local).copied()
    {
        return place(unit, facts, value);
    }
    let path = path(unit, base);
    if let Some(known) = facts.places.iter().position(|p| p.path == path) {
        return Some(known);
    }
    let origin = match base.kind {
        ExprKind::Local(local) => match unit.operation.params.iter().find(|p| p.local == local) {
            Some(param) if param.new => Origin::NewParam,
            Some(_) => Origin::Param,
            None => Origin::Followed,
        },
        ExprKind::Keyed { ref key, .. } => {
            Origin::Keyed { own: key.iter().any(|part| matches!(part.kind, ExprKind::Me)) }
        }
        _ => Origin::Followed,
    };
    Some(add(facts, Place { subject, path, origin, base: base.clone() }))
}

/// `booking.seat`: short, without the names of states.
fn path(unit: &Unit<'_>, base: &Expr) -> String {
    match &base.kind {
        ExprKind::Attr { base, attr } => {
            let subject = base.ty.subject().map(|s| &unit.design.subjects[s.index()]);
            let name = subject.map_or("?", |s| &s.attributes[attr.index()].name);
            format!("{}.{name}", path(unit, base))
        }
        _ => unit.scope().text(base),
    }
}

fn add(facts: &mut Facts<'_>, place: Place) -> usize {
    facts.places.push(place);
    facts.places.len() - 1
}
