//! A history, drawn.

use drawing::lanes;

use super::words::clean;
use crate::Trace;

/// One history as an `<svg>` element; `title` is for those who cannot see it.
pub(super) fn svg(trace: &Trace, title: &str) -> String {
    lanes::svg(&super::lanes::lanes(trace), &clean(title))
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn what_happened_is_drawn() {
        let drawn = svg(&fixture::oversell(), "oversell");
        for part in ["buyer-2", "hold.free would have refused here", "reply bad", "call bad"] {
            assert!(drawn.contains(part), "{part}");
        }
        let drawn = svg(&fixture::orphan(), "orphan");
        for part in ["class=\"crash\"", "class=\"band\"", "class=\"cycle\"", "forgot my_epoch"] {
            assert!(drawn.contains(part), "{part}");
        }
    }

    #[test]
    fn texts_cannot_leave_the_drawing() {
        let mut trace = fixture::oversell();
        trace.steps[0].name = "<script>alert(1)</script>".into();
        trace.steps[0].changes[0].record = "\"><script>".into();
        let drawn = svg(&trace, "<script>");
        assert!(!drawn.contains("<script"), "{drawn}");
    }
}
