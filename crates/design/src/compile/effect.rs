//! Calls to the world outside and what each answer does.

use syntax::tree::{self, AnswerKind};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::{Frame, Mode};
use crate::model::*;

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

impl Compiler {
    pub(super) fn effect(
        &mut self,
        frame: &mut Frame,
        written: &tree::EffectBody,
        head: Span,
        params: &[Param],
    ) -> Effect {
        frame.mode = Mode::Call;
        let mut effect = Effect {
            method: String::new(),
            url: String::new(),
            key: Vec::new(),
            body: Vec::new(),
            sign: None,
            on_ok: Answer::default(),
            on_refused: Answer::default(),
            on_unknown: Answer::default(),
        };
        if let Some(call) = &written.call {
            if !METHODS.contains(&call.method.text.as_str()) {
                self.report(
                    Diagnostic::error(
                        "E0420",
                        call.method.span,
                        format!("`{}` is not a method of HTTP", call.method.text),
                    )
                    .help("one of `GET`, `POST`, `PUT`, `PATCH` and `DELETE`"),
                );
            }
            effect.method = call.method.text.clone();
            effect.url = call.url.as_ref().map(|url| url.value.clone()).unwrap_or_default();
            if let Some(key) = &call.key {
                let key = self.expr(frame, key, None);
                effect.key.push(key);
            }
            if let Some(body) = &call.body {
                effect.body = self.record_fields(frame, body);
            }
        }
        if let Some(sign) = &written.sign {
            self.sign(frame, sign, &mut effect);
        }
        if effect.key.is_empty() {
            effect.key = params.iter().map(|param| frame.local(param.local, param.span)).collect();
        }
        for key in &effect.key {
            if matches!(
                key.ty,
                Type::Json
                    | Type::Document
                    | Type::Record(_)
                    | Type::Set { .. }
                    | Type::List { .. }
            ) {
                let ty = self.type_name(&key.ty);
                self.report(
                    Diagnostic::error("E0308", key.span, format!("`{ty}` cannot be a key"))
                        .help("a key is a single value that names this call for good"),
                );
            }
        }
        frame.mode = Mode::Effect;
        let mut missing = vec![
            (AnswerKind::Ok, "ok"),
            (AnswerKind::Refused, "refused"),
            (AnswerKind::Unknown, "unknown"),
        ];
        for handler in &written.answers {
            missing.retain(|(answer, _)| *answer != handler.answer);
            let depth = frame.scope.len();
            let mut range = None;
            let param = handler.param.as_ref().map(|param| {
                let ty;
                (ty, range) = match &param.ty {
                    Some(ty) => self.ranged_type(ty, &param.name.text),
                    None => (Type::Json, None),
                };
                self.not_reserved(&param.name);
                self.bind(frame, &param.name, ty)
            });
            let body = self.block(frame, &handler.body);
            frame.scope.truncate(depth);
            let answer = Answer { param, range, body, written: true };
            match handler.answer {
                AnswerKind::Ok => effect.on_ok = answer,
                AnswerKind::Refused => effect.on_refused = answer,
                AnswerKind::Unknown => effect.on_unknown = answer,
            }
        }
        self.signed_answer(frame, &effect, written.sign.is_some(), head);
        if !missing.is_empty() {
            let words: Vec<String> = missing.iter().map(|(_, word)| format!("on {word}")).collect();
            self.report(
                Diagnostic::error(
                    "E0416",
                    head,
                    format!("this effect does not say {}", crate::suggest::list(&words)),
                )
                .label("the world may answer in three ways, or not at all")
                .help(
                    "write all of `on ok { … }`, `on refused { … }` and `on unknown { … }`; \
                     an empty `{ }` says that nothing changes",
                ),
            );
        }
        effect
    }
}
