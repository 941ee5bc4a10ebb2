//! Text that becomes a page. Whatever is put in is escaped; only what was written here as a
//! literal, and what was already made into [`Html`], is markup.

use std::fmt::Write as _;

/// Markup that is safe to send.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Html(String);

/// Something that can stand in a page.
pub trait Part {
    fn put(&self, page: &mut String);
}

impl Part for str {
    fn put(&self, page: &mut String) {
        escape(self, page);
    }
}

impl Part for String {
    fn put(&self, page: &mut String) {
        escape(self, page);
    }
}

impl Part for Html {
    fn put(&self, page: &mut String) {
        page.push_str(&self.0);
    }
}

impl<T: Part + ?Sized> Part for &T {
    fn put(&self, page: &mut String) {
        (**self).put(page);
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl Part for $number {
            fn put(&self, page: &mut String) {
                let _ = write!(page, "{self}");
            }
        })*
    };
}
numbers!(u32, u64, i64, usize);

/// Between tags and inside quotes of either kind. What no page can hold is shown as a box.
fn escape(text: &str, page: &mut String) {
    // a text that turns the reading direction could pretend to be another
    let turns = |letter| matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    page.push_str(&drawing::attribute(text).replace(turns, "\u{fffd}"));
}

/// How many parts a form asks for.
pub const fn holes(form: &str) -> usize {
    let bytes = form.as_bytes();
    let (mut at, mut count) = (0, 0);
    while at + 1 < bytes.len() {
        if bytes[at] == b'{' && bytes[at + 1] == b'}' {
            count += 1;
            at += 1;
        }
        at += 1;
    }
    count
}

impl Html {
    pub fn new() -> Html {
        Html::default()
    }

    /// Markup that another part of the house has made, and escaped.
    pub fn trusted(markup: String) -> Html {
        Html(markup)
    }

    pub fn into_string(self) -> String {
        self.0
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn add(&mut self, part: impl Part) {
        part.put(&mut self.0);
    }

    /// For [`html!`], which sees to it that there is a part for each hole.
    pub fn fill(&mut self, form: &'static str, parts: &[&dyn Part]) {
        let mut pieces = form.split("{}");
        self.0.push_str(pieces.next().unwrap_or_default());
        for (piece, part) in pieces.zip(parts) {
            part.put(&mut self.0);
            self.0.push_str(piece);
        }
    }
}

/// Adds a literal to a page, with a part in the place of each `{}`. Names in braces mean nothing
/// here: nothing can slip in unescaped.
macro_rules! html {
    ($page:expr, $form:literal $(, $part:expr)* $(,)?) => {{
        const {
            let parts: &[&str] = &[$(stringify!($part)),*];
            assert!($crate::html::holes($form) == parts.len(), "a part for each hole");
        }
        $page.fill($form, &[$(&$part as &dyn $crate::html::Part),*]);
    }};
}
pub(crate) use html;

/// A part of a path or of a query, whatever it holds.
pub fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(byte as char);
            }
            other => {
                let _ = write!(out, "%{other:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_escaped_and_what_is_written_is_not() {
        let mut page = Html::new();
        let evil = "<script>alert(1)</script>";
        html!(page, "<b title=\"{}\">{}</b>", "\"><img src=x onerror='y'>", evil);
        assert_eq!(
            page.as_str(),
            "<b title=\"&quot;&gt;&lt;img src=x onerror=&#39;y&#39;&gt;\">\
             &lt;script&gt;alert(1)&lt;/script&gt;</b>"
        );
        let mut outer = Html::new();
        html!(outer, "<p>{}</p>{}", page, 7_u64);
        assert!(outer.as_str().starts_with("<p><b title="));
        assert!(outer.as_str().ends_with("</p>7"));
    }

    #[test]
    fn a_part_is_never_a_form() {
        let mut page = Html::new();
        html!(page, "<i>{}</i>", "{}{page}");
        assert_eq!(page.as_str(), "<i>{}{page}</i>");
    }

    #[test]
    fn letters_that_deceive_are_shown_as_boxes() {
        let mut page = Html::new();
        page.add("a\u{202e}b\u{0}c\u{2066}d");
        assert_eq!(page.as_str(), "a\u{fffd}b\u{fffd}c\u{fffd}d");
    }

    #[test]
    fn any_text_fits_into_an_address() {
        assert_eq!(encoded("a b/../ü?&=\"<"), "a%20b%2F..%2F%C3%BC%3F%26%3D%22%3C");
    }
}
