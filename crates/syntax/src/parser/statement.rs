//! What a step does: blocks and statements.

use super::Parser;
use crate::tree::{AssignOp, Block, SendEach, Stmt, StmtKind};
use crate::{Diagnostic, TokenKind};

impl Parser<'_> {
    /// Whether this can be the beginning of a statement.
    pub(super) fn at_statement_start(&self) -> bool {
        if !self.at(TokenKind::Word) {
            return false;
        }
        match self.word(0) {
            "new" | "delete" | "append" | "emit" | "send" | "for" | "if" | "let" => true,
            _ => matches!(
                self.nth(1),
                TokenKind::Assign
                    | TokenKind::PlusAssign
                    | TokenKind::MinusAssign
                    | TokenKind::Equal
                    | TokenKind::Dot
                    | TokenKind::OpenBracket
            ),
        }
    }

    /// `x.y :=` at the beginning of a line: what should stand before it was left out.
    pub(super) fn at_next_assignment(&self) -> bool {
        const LONGEST: usize = 16;
        if !self.piece(0).line_start || !self.at(TokenKind::Word) {
            return false;
        }
        let mut ahead = 1;
        while ahead < LONGEST && self.nth(ahead) == TokenKind::Dot {
            ahead += 2;
        }
        self.at_assignment(ahead)
    }

    /// `{ statements }`
    pub(super) fn block(&mut self) -> Block {
        let first = self.span();
        let mut statements = Vec::new();
        if self.lost || !self.enter() {
            return Block { statements, span: self.since(first) };
        }
        let open = self.at;
        if self.open_body("the statements", Self::at_statement_start) {
            self.statements(open, &mut statements);
        }
        self.leave();
        Block { statements, span: self.since(first) }
    }

    fn statements(&mut self, open: usize, statements: &mut Vec<Stmt>) {
        loop {
            while self.eat(TokenKind::Comma) {}
            if self.at(TokenKind::CloseBrace) || self.at(TokenKind::End) || self.at_item_start() {
                break;
            }
            let answer = self.at_word("on") && self.at_answer();
            if answer || self.at_word("else") && self.nth(1) != TokenKind::Assign {
                // the next answer of an effect, or the other branch: this block was not closed
                self.unclosed(open);
                return;
            }
            let (start, first) = (self.at, self.span());
            let kind = self.statement();
            let span = self.since(first);
            statements.push(Stmt { kind, span });
            if self.lost {
                self.resync(open, start, |p| {
                    p.piece(0).line_start && p.at(TokenKind::Word) && !p.at_line_of_list()
                });
                if self.lost {
                    break;
                }
            }
        }
        self.close_body(open);
    }

    /// A line that ends with a comma is a part of a list that was not opened, and no statement.
    fn at_line_of_list(&self) -> bool {
        let mut ahead = 1;
        while !self.piece(ahead).line_start && self.nth(ahead) != TokenKind::End {
            ahead += 1;
        }
        self.nth(ahead - 1) == TokenKind::Comma
    }

    fn statement(&mut self) -> StmtKind {
        let word_next = self.nth(1) == TokenKind::Word;
        match self.word(0) {
            "let" if word_next => self.let_statement(),
            "new" if word_next => self.new_statement(),
            "delete" if word_next => {
                self.bump();
                StmtKind::Delete { target: self.operand_checked() }
            }
            "append" if word_next => {
                self.bump();
                let log = self.operand_checked();
                let fields = self.fields("and the entry after the log");
                StmtKind::Append { log, fields }
            }
            "emit" if word_next => {
                self.bump();
                let event = self.name("the name of the event");
                let fields = self.fields("and the contents of the event");
                StmtKind::Emit { event, fields }
            }
            "send" if word_next => self.send(),
            "for" if word_next => self.for_statement(),
            "if" => self.if_statement(),
            _ => self.assignment(),
        }
    }

    fn at_assignment(&self, ahead: usize) -> bool {
        matches!(
            self.nth(ahead),
            TokenKind::Assign | TokenKind::PlusAssign | TokenKind::MinusAssign
        )
    }

    /// `let n = e`
    fn let_statement(&mut self) -> StmtKind {
        self.bump();
        let name = self.name("a name after `let`");
        if !self.lost && self.at(TokenKind::Assign) {
            let diagnostic = Diagnostic::error("E0110", self.span(), "`let` takes `=`");
            self.report(diagnostic.help("`let` names a value: `let n = e`; `:=` changes truth"));
            self.bump();
        } else {
            self.expect(TokenKind::Equal, "=", "after the name of `let`");
        }
        StmtKind::Let { name, value: self.expr() }
    }

    /// `new S(key, …) { attr: e, … }`
    fn new_statement(&mut self) -> StmtKind {
        self.bump();
        let subject = self.name("the subject to make");
        let keys = if !self.lost && self.at(TokenKind::OpenParen) {
            self.arguments()
        } else {
            self.expect(TokenKind::OpenParen, "(", "and the key of the new subject");
            Vec::new()
        };
        let braces = !self.lost && self.at(TokenKind::OpenBrace);
        let fields = if braces { self.fields("") } else { Vec::new() };
        StmtKind::New { subject, keys, fields }
    }

    /// `send actor.operation(e, …)`
    fn send(&mut self) -> StmtKind {
        self.bump();
        let each = (self.word(0) == "each" && self.nth(1) == TokenKind::Word)
            .then(|| Box::new(self.send_each()));
        let actor = self.name("the actor whose effect is sent");
        self.expect(TokenKind::Dot, ".", "between the actor and its effect");
        let operation = self.name("the effect that is sent");
        let args = if !self.lost && self.at(TokenKind::OpenParen) {
            self.arguments()
        } else {
            self.expect(TokenKind::OpenParen, "(", "and the arguments of the effect");
            Vec::new()
        };
        StmtKind::Send { each, actor, operation, args }
    }

    /// `each x in S of e where p:`
    fn send_each(&mut self) -> SendEach {
        self.bump();
        let var = self.name("a name after `each`");
        self.expect_word("in", "after the name of `each`");
        let (domain, _) = self.domain();
        let outside = std::mem::replace(&mut self.colon_ends, true);
        let filter = self.filter(&mut 0);
        self.colon_ends = outside;
        self.expect(TokenKind::Colon, ":", "before what is sent to each of them");
        SendEach { var, domain, filter }
    }

    /// `for x in e { … }`
    fn for_statement(&mut self) -> StmtKind {
        self.bump();
        let var = self.name("a name after `for`");
        self.expect_word("in", "after the name of `for`");
        let (domain, _) = self.domain();
        let body = self.block();
        StmtKind::For { var, domain, body }
    }

    /// `if e { … } else { … }`
    fn if_statement(&mut self) -> StmtKind {
        self.bump();
        let condition = self.expr();
        if self.at_word("then") && !self.lost {
            let diagnostic = Diagnostic::error("E0107", self.span(), "unexpected `then`");
            self.report(diagnostic.help("as a statement, `if` takes a block: `if e { … }`"));
            self.bump();
        }
        let then = self.block();
        let otherwise = self
            .eat_word("else")
            .then(|| if self.at_word("if") { self.else_if() } else { self.block() });
        StmtKind::If { condition, then, otherwise }
    }

    /// A block that holds one `if`.
    fn else_if(&mut self) -> Block {
        let first = self.span();
        if self.lost || !self.enter() {
            return Block { statements: Vec::new(), span: self.since(first) };
        }
        let kind = self.if_statement();
        self.leave();
        let span = self.since(first);
        let statements = vec![Stmt { kind, span }];
        Block { statements, span }
    }

    /// `x := e`, `x += e`, `x -= e`
    fn assignment(&mut self) -> StmtKind {
        if !self.at(TokenKind::Word) {
            return self.no_statement();
        }
        let target = self.operand_checked();
        if self.lost {
            return StmtKind::Error;
        }
        let op = match self.kind() {
            TokenKind::Assign => AssignOp::Set,
            TokenKind::PlusAssign => AssignOp::Add,
            TokenKind::MinusAssign => AssignOp::Subtract,
            TokenKind::Equal => {
                let written = crate::lexer::shorten(target.span.text(self.source));
                let message = "`=` compares; an assignment is written `:=`";
                let diagnostic = Diagnostic::error("E0110", self.span(), message);
                self.report(diagnostic.help(format!("write `{written} := …`")));
                AssignOp::Set
            }
            _ => {
                let written = crate::lexer::shorten(target.span.text(self.source));
                let message = format!("expected `:=` after `{written}`, found {}", self.found());
                let help = "a name alone is no statement; an assignment is `x := e`";
                self.fail(Diagnostic::error("E0107", self.here(), message).help(help));
                return StmtKind::Error;
            }
        };
        self.bump();
        let value = self.value();
        StmtKind::Assign { target, op, value }
    }

    fn no_statement(&mut self) -> StmtKind {
        let found = self.found();
        let message = format!("expected a statement, found {found}");
        let help = "a statement is an assignment `x := e`, or begins with \
                    `let`, `if`, `for`, `new`, `delete`, `append`, `emit` or `send`";
        self.fail(Diagnostic::error("E0107", self.here(), message).help(help));
        StmtKind::Error
    }
}
