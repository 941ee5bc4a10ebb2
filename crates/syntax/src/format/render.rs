//! Decides where the lines end, and writes them.

use super::comments::Slots;
use super::doc::{Doc, Group, Hang, Line, Stay, columns};

/// How wide a line may be.
pub(super) const WIDTH: usize = 100;
/// How much deeper each level stands.
pub(super) const INDENT: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Flat,
    Broken,
    /// flat, but ending where something hangs: only asked about, never printed
    Head,
}

#[derive(Clone, Copy)]
struct Command<'d, 's> {
    indent: usize,
    mode: Mode,
    doc: &'d Doc<'s>,
}

/// Prints a settled document that begins at column `indent`; the last line is not ended.
pub(super) fn render(docs: &[Doc<'_>], indent: usize, slots: &Slots<'_>) -> String {
    let mut printer = Printer { out: String::new(), column: indent, todo: Vec::new(), slots };
    printer.push_all(docs, indent, Mode::Broken);
    while let Some(command) = printer.todo.pop() {
        printer.step(command);
    }
    printer.out
}

struct Printer<'d, 's> {
    out: String,
    column: usize,
    /// what remains, the next one last
    todo: Vec<Command<'d, 's>>,
    slots: &'d Slots<'s>,
}

impl<'d, 's> Printer<'d, 's> {
    fn push_all(&mut self, docs: &'d [Doc<'s>], indent: usize, mode: Mode) {
        self.todo.extend(docs.iter().rev().map(|doc| Command { indent, mode, doc }));
    }

    fn step(&mut self, Command { indent, mode, doc }: Command<'d, 's>) {
        match doc {
            Doc::Text(text) => self.text(text),
            Doc::IfBroken(text) => {
                if mode == Mode::Broken {
                    self.text(text);
                }
            }
            Doc::Line(line) => match mode {
                Mode::Broken => self.end_line(line, indent),
                Mode::Flat | Mode::Head => self.text(line.flat),
            },
            Doc::Indent(docs) => self.push_all(docs, indent + INDENT, mode),
            Doc::Align { back, docs } => {
                let aligned = self.column.saturating_sub(*back);
                let indent = if aligned > indent { aligned } else { self.column };
                self.push_all(docs, indent, mode);
            }
            Doc::Group(group) => {
                let mode = if mode == Mode::Flat || self.group_fits(group) {
                    Mode::Flat
                } else {
                    Mode::Broken
                };
                self.push_all(&group.docs, indent, mode);
            }
            Doc::Hang(hang) => {
                if mode == Mode::Flat || self.hang_stays(hang, indent) {
                    self.push_all(&hang.docs, indent, mode);
                } else {
                    self.new_line(indent + INDENT);
                    self.push_all(&hang.docs, indent + INDENT, mode);
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += columns(text);
    }

    /// Begins a line at a column; the spaces that would end the line before are dropped.
    fn new_line(&mut self, column: usize) {
        let kept = self.out.trim_end_matches(' ').len();
        self.out.truncate(kept);
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', column));
        self.column = column;
    }

    /// Ends the line with the comment that trails it, and gives the others lines of their own.
    fn end_line(&mut self, line: &Line, indent: usize) {
        let slot = self.slots.get(line.slot);
        if let Some(comment) = slot.trailing {
            self.out.push_str("  ");
            self.out.push_str(comment);
        }
        let inner = if line.closing { indent + INDENT } else { indent };
        for &(comment, blank) in &slot.own {
            self.blank_line(blank);
            self.new_line(inner);
            self.out.push_str(comment);
        }
        self.blank_line(slot.blank);
        self.new_line(indent);
    }

    fn blank_line(&mut self, blank: bool) {
        if blank {
            self.new_line(0);
        }
    }

    fn group_fits(&self, group: &'d Group<'s>) -> bool {
        !group.broken && self.fits(self.column, &group.docs, Mode::Flat)
    }

    fn hang_stays(&self, hang: &'d Hang<'s>, indent: usize) -> bool {
        let below = indent + INDENT;
        let flat_at = |column| !hang.broken && self.fits(column, &hang.docs, Mode::Flat);
        if self.column <= below || flat_at(self.column) {
            return true;
        }
        match hang.stay {
            Stay::FirstLine => self.fits(self.column, &hang.docs, Mode::Broken),
            Stay::Head => self.fits(self.column, &hang.docs, Mode::Head),
            Stay::Helpless => !flat_at(below),
            Stay::Aligned => self.column + hang.widest <= WIDTH,
            Stay::Never => false,
        }
    }

    /// Whether these, and what must follow them on the same line, fit on a line from this column
    /// on. Looks at no more than what fits on one line.
    fn fits(&self, column: usize, docs: &'d [Doc<'s>], mode: Mode) -> bool {
        let mut room = match WIDTH.checked_sub(column) {
            Some(room) => room,
            None => return false,
        };
        let mut next: Vec<(Mode, std::slice::Iter<'_, Doc<'s>>)> = vec![(mode, docs.iter())];
        let mut rest = self.todo.len();
        loop {
            let (mode, doc) = match next.last_mut() {
                Some((mode, docs)) => match docs.next() {
                    Some(doc) => (*mode, doc),
                    None => {
                        next.pop();
                        continue;
                    }
                },
                None if rest == 0 => return true,
                None => {
                    rest -= 1;
                    (self.todo[rest].mode, self.todo[rest].doc)
                }
            };
            let width = match doc {
                Doc::Text(text) => columns(text),
                Doc::IfBroken(text) if mode == Mode::Broken => columns(text),
                Doc::IfBroken(_) => 0,
                Doc::Line(line) if mode != Mode::Broken => line.flat.len(),
                Doc::Hang(hang) if mode == Mode::Flat => {
                    next.push((mode, hang.docs.iter()));
                    0
                }
                Doc::Line(_) | Doc::Hang(_) => return true,
                Doc::Indent(docs) | Doc::Align { docs, .. } | Doc::Group(Group { docs, .. }) => {
                    next.push((mode, docs.iter()));
                    0
                }
            };
            room = match room.checked_sub(width) {
                Some(room) => room,
                None => return false,
            };
        }
    }
}
