//! What an operation changes, in a few lines.

use syntax::tree::*;

use super::parts::Parts;

/// One line for each thing that it does, each once, in the order of the text.
pub fn effects(parts: &Parts<'_>, operation: &OperationItem) -> Vec<String> {
    let mut found = Found { parts, lines: Vec::new() };
    match &operation.body {
        OperationBody::Statements(block) => found.block(block),
        OperationBody::Effect(effect) => {
            if let Some(call) = &effect.call {
                let url = call.url.as_ref().map_or("", |url| url.value.as_str());
                found.line(format!("calls `{} {url}`", call.method.text));
            }
            for answer in &effect.answers {
                found.block(&answer.body);
            }
        }
        OperationBody::Read { result, memory, .. } => {
            found.line(format!("answers with `{}`", found.parts.text(result.span)));
            found.block(memory);
        }
        OperationBody::Missing => {}
    }
    found.lines
}

struct Found<'p> {
    parts: &'p Parts<'p>,
    lines: Vec<String>,
}

impl Found<'_> {
    fn line(&mut self, line: String) {
        // an unfinished text has nothing there
        if !line.contains("``") && !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Assign { target, .. } => {
                    self.line(format!("writes `{}`", self.parts.text(target.span)));
                }
                StmtKind::New { subject, .. } => self.line(format!("makes a `{}`", subject.text)),
                StmtKind::Delete { target } => {
                    self.line(format!("deletes `{}`", self.parts.text(target.span)));
                }
                StmtKind::Append { log, .. } => {
                    self.line(format!("appends to `{}`", self.parts.text(log.span)));
                }
                StmtKind::Emit { event, .. } => self.line(format!("emits `{}`", event.text)),
                StmtKind::Send { each, actor, operation, .. } => {
                    let many = each.as_ref().map_or("", |_| ", once for each of a set");
                    self.line(format!("sends `{}.{}`{many}", actor.text, operation.text));
                }
                StmtKind::For { body, .. } => self.block(body),
                StmtKind::If { then, otherwise, .. } => {
                    self.block(then);
                    otherwise.iter().for_each(|block| self.block(block));
                }
                StmtKind::Let { .. } | StmtKind::Error => {}
            }
        }
    }
}
