//! Do an expression of the old design and one of the new design say the same?

use design::model::*;

use super::Following;

impl Following<'_> {
    /// Are children counted alike?
    pub fn counted_alike(&self, was: SubjectId, is: SubjectId) -> bool {
        let (was, is) =
            (&self.old.subjects[was.index()].counters, &self.new.subjects[is.index()].counters);
        was.len() == is.len()
            && was.iter().zip(is).all(|(a, b)| {
                let locals = (&a.locals[..], &b.locals[..]);
                self.subject(a.child) == Some(b.child)
                    && self.both_same(a.filter.as_ref(), b.filter.as_ref(), locals)
                    && self.both_same(a.value.as_ref(), b.value.as_ref(), locals)
            })
    }

    fn both_same(
        &self,
        was: Option<&Expr>,
        is: Option<&Expr>,
        locals: (&[Local], &[Local]),
    ) -> bool {
        match (was, is) {
            (None, None) => true,
            (Some(was), Some(is)) => self.same_expression(was, is, locals),
            _ => false,
        }
    }

    /// In the words of the new design, they are the same. Where it is not known, they are not.
    pub fn same_expression(
        &self,
        was: &Expr,
        is: &Expr,
        (before, after): (&[Local], &[Local]),
    ) -> bool {
        let (mut was, mut is) = (was.clone(), is.clone());
        let mut known = true;
        visit::each_mut(&mut was, &mut |part| known &= self.in_new_words(part, before, after));
        visit::each_mut(&mut is, &mut |part| {
            part.ty = Type::Null;
            if let ExprKind::Literal(constant) = &mut part.kind {
                as_texts(self.new, constant);
            }
        });
        visit::each_mut(&mut was, &mut |part| part.ty = Type::Null);
        known && visit::same(&was, &is)
    }

    /// False: it has no counterpart, or it is not known which.
    fn in_new_words(&self, part: &mut Expr, before: &[Local], after: &[Local]) -> bool {
        let subject = |base: &Expr| base.ty.subject();
        match &mut part.kind {
            ExprKind::Literal(constant) => self.constant(constant),
            ExprKind::Local(local) => {
                let name = before.get(local.index()).map(|held| held.name.clone());
                if after.get(local.index()).map(|held| &held.name) == name.as_ref() {
                    return true;
                }
                // a parameter that has another name stands at its place
                let same = |held: &Local| Some(&held.name) == name.as_ref();
                match after.iter().position(same) {
                    Some(at) => *local = LocalId::of(at),
                    None => return after.len() == before.len(),
                }
                true
            }
            ExprKind::Attr { base, attr } => {
                let known = subject(base).and_then(|s| self.attributes[s.index()][attr.index()]);
                known.is_some_and(|new| {
                    *attr = new;
                    true
                })
            }
            ExprKind::KeyPart { base, .. } => {
                subject(base).is_some_and(|s| self.subject(s).is_some())
            }
            ExprKind::Keyed { subject, .. } => self.subject(*subject).is_some_and(|new| {
                *subject = new;
                true
            }),
            ExprKind::LogEnd { base, log } | ExprKind::LogStart { base, log } => {
                let known = subject(base).and_then(|s| self.state(s, *log));
                known.is_some_and(|new| {
                    *log = new;
                    true
                })
            }
            ExprKind::Exists { cache: None, .. }
            | ExprKind::Hash(_)
            | ExprKind::IsNull(_)
            | ExprKind::Not(_)
            | ExprKind::Negate(_)
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Implies(..)
            | ExprKind::Compare { .. }
            | ExprKind::In { .. }
            | ExprKind::Arithmetic { .. }
            | ExprKind::Min(_)
            | ExprKind::Max(_)
            | ExprKind::If { .. }
            | ExprKind::Let { .. }
            | ExprKind::Set(_)
            | ExprKind::List(_)
            | ExprKind::Index { .. }
            | ExprKind::Size(_)
            | ExprKind::Field { .. }
            | ExprKind::Record(_)
            | ExprKind::Me
            | ExprKind::Now => true,
            _ => false,
        }
    }

    /// Words of enumerations as texts, in the new words.
    fn constant(&self, constant: &mut Const) -> bool {
        match constant {
            Const::Enum(id, word) => {
                let old = &self.old.enumerations[id.index()].constants[*word as usize];
                let mut renamed = self.words.iter().filter(|held| held.old == *old);
                let everywhere = renamed.clone().find(|held| held.of.is_none());
                // what is said of one place may or may not be said of this one
                let known = renamed.all(|held| held.of.is_none());
                let new = everywhere.map_or(old, |held| &held.new);
                *constant = Const::Text(new.clone());
                known
            }
            Const::Set(items) | Const::List(items) => {
                items.iter_mut().all(|item| self.constant(item))
            }
            Const::Map(items) => {
                items.iter_mut().all(|(key, value)| self.constant(key) && self.constant(value))
            }
            _ => true,
        }
    }
}

/// Words of enumerations as texts.
fn as_texts(design: &Design, constant: &mut Const) {
    match constant {
        Const::Enum(id, word) => {
            let text = design.enumerations[id.index()].constants[*word as usize].clone();
            *constant = Const::Text(text);
        }
        Const::Set(items) | Const::List(items) => {
            items.iter_mut().for_each(|item| as_texts(design, item));
        }
        Const::Map(items) => items.iter_mut().for_each(|(key, value)| {
            as_texts(design, key);
            as_texts(design, value);
        }),
        _ => {}
    }
}
