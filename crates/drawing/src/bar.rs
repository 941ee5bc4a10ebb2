//! A bar beside a number in a table.

/// Filled to so many of a hundred.
pub fn bar(percent: u64) -> String {
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect width=\"100\" height=\"8\" rx=\"2\"/><rect width=\"{percent}\" height=\"8\" rx=\"2\"/></svg>"
    )
}
