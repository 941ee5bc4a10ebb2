//! `hash`, `verified`, `included`, and `sign … by …` of an effect.

use syntax::tree::{self, Name};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::expr::boolean;
use super::frame::Frame;
use super::path::error_expr;
use crate::model::*;

impl Compiler {
    /// `hash(a, b, …)`: of single values, in this order.
    pub(super) fn hash(
        &mut self,
        frame: &mut Frame,
        function: &Name,
        args: &[tree::Expr],
        span: Span,
    ) -> Expr {
        if args.is_empty() {
            self.report(
                Diagnostic::error("E0304", function.span, "`hash` takes one or more")
                    .help("for example `hash(statement, StatementState.audience)`"),
            );
            return error_expr(span);
        }
        let mut values = Vec::new();
        for arg in args {
            let value = self.expr(frame, arg, None);
            let help = match value.ty.required() {
                Type::Error => return error_expr(span),
                Type::Secret => {
                    Some("what can be hashed can be guessed; compare it with a parameter")
                }
                Type::Signature => Some("a signature can have many forms; hash what is signed"),
                Type::List { .. } | Type::Set { .. } | Type::Map { .. } => {
                    Some("hash one element after the other: `hash(LogState.root, entry)`")
                }
                Type::Json | Type::Document | Type::Point | Type::Proof => {
                    Some("the same value can be written in several ways; hash its parts")
                }
                Type::Null | Type::Record(_) | Type::Struct(_) | Type::Rows(_) => {
                    Some("hash its values one by one")
                }
                _ => None,
            };
            if let Some(help) = help {
                let ty = self.type_name(&value.ty);
                let message = format!("`{ty}` has no digest of its own");
                self.report(Diagnostic::error("E0313", value.span, message).help(help));
                return error_expr(span);
            }
            values.push(value);
        }
        Expr { kind: ExprKind::Hash(values), ty: Type::Hash, span }
    }

    /// `verified(signature, by key, over digest)`
    pub(super) fn verified(
        &mut self,
        frame: &mut Frame,
        function: &Name,
        args: &[tree::Expr],
        span: Span,
    ) -> Expr {
        let wanted = [Type::Signature, Type::PublicKey, Type::Hash];
        let Some([signature, key, over]) = self.three(frame, function, args, wanted) else {
            return error_expr(span);
        };
        boolean(ExprKind::Verified { signature, key, over }, span)
    }

    /// `included(leaf, in root, by proof)`
    pub(super) fn included(
        &mut self,
        frame: &mut Frame,
        function: &Name,
        args: &[tree::Expr],
        span: Span,
    ) -> Expr {
        let wanted = [Type::Hash, Type::Hash, Type::Proof];
        let Some([leaf, root, proof]) = self.three(frame, function, args, wanted) else {
            return error_expr(span);
        };
        boolean(ExprKind::Included { leaf, root, proof }, span)
    }

    fn three(
        &mut self,
        frame: &mut Frame,
        function: &Name,
        args: &[tree::Expr],
        wanted: [Type; 3],
    ) -> Option<[Box<Expr>; 3]> {
        let written: &[tree::Expr; 3] = self.arity(function, args)?;
        let mut values = Vec::new();
        for (arg, want) in written.iter().zip(&wanted) {
            let value = self.expr(frame, arg, Some(want));
            values.extend(self.demand(value, want).map(Box::new));
        }
        values.try_into().ok()
    }

    /// `sign digest by key`, and the answer that it goes with.
    pub(super) fn sign(
        &mut self,
        frame: &mut Frame,
        written: &tree::EffectSign,
        effect: &mut Effect,
    ) {
        let digest = self.expr(frame, &written.digest, Some(&Type::Hash));
        let digest = self.demand(digest, &Type::Hash);
        let key = self.expr(frame, &written.key, Some(&Type::PublicKey));
        let key = self.demand(key, &Type::PublicKey);
        let (Some(digest), Some(key)) = (digest, key) else { return };
        for (name, value) in [("digest", &digest), ("public_key", &key)] {
            if effect.body.iter().any(|(known, _)| known == name) {
                let message = format!("`sign` sends the field `{name}` itself");
                self.report(
                    Diagnostic::error("E0202", written.span, message)
                        .help("call the field of the body otherwise"),
                );
                continue;
            }
            effect.body.push((name.into(), value.clone()));
        }
        effect.sign = Some(Sign { digest, key });
    }

    /// A signature comes from a keystore, and a keystore gives a signature. `signs`: it is written
    /// that it does, well or not.
    pub(super) fn signed_answer(
        &mut self,
        frame: &Frame,
        effect: &Effect,
        signs: bool,
        head: Span,
    ) {
        let answer = effect.on_ok.param.map(|local| frame.locals[local.index()].ty.clone());
        let is_signature = answer.as_ref().map(Type::required) == Some(&Type::Signature);
        if answer == Some(Type::Error) || is_signature == signs {
            return;
        }
        let (message, help) = if is_signature {
            (
                "a signature of what, and by which key?",
                "say it: `sign hash(order) by KeyState.public_key`",
            )
        } else {
            (
                "what is signed is not taken",
                "bind it: `on ok(signature: signature) { OrderState.signature := signature }`",
            )
        };
        self.report(Diagnostic::error("E0424", head, message).help(help));
    }

    /// A digest from outside says nothing about what it is a digest of.
    pub(super) fn digests_are_made_here(&mut self, params: &[Param]) {
        for param in params.iter().filter(|param| *param.ty.required() == Type::Hash) {
            let message = format!("`{}` is a digest that a caller makes", param.name);
            self.report(
                Diagnostic::error("E0315", param.span, message)
                    .help("take what it is made of, and `hash` that; content is a `blob`"),
            );
        }
    }

    pub(super) fn signing_is_an_effect(&mut self, function: &Name) {
        self.report(
            Diagnostic::error("E0423", function.span, "signing is an effect, not a function")
                .label("a step that could sign would need the private key in truth, feed or backup")
                .help(
                    "send it to a keystore: `effect keystore[sign_order(order: Order)] \
                     { call POST \"{keystore.url}/sign\"  sign hash(order) by KeyState.public_key  … }`",
                ),
        );
    }

    /// Two signatures of one digest by one key may differ, and so may two proofs of one thing.
    pub(super) fn compares_evidence(&mut self, ty: &Type, span: Span) -> bool {
        let help = match ty.required() {
            Type::Signature => "ask `verified(signature, by key, over digest)`",
            Type::Proof => "ask `included(leaf, in root, by proof)`",
            _ => return false,
        };
        let message = format!("a `{}` is not compared", self.type_name(ty.required()));
        self.report(Diagnostic::error("E0314", span, message).help(help));
        true
    }
}
