//! Which kinds of files a page is made of.

const KINDS: &[(&str, &str)] = &[
    ("html", "text/html; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("webmanifest", "application/manifest+json"),
    ("wasm", "application/wasm"),
    ("txt", "text/plain; charset=utf-8"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("webp", "image/webp"),
    ("gif", "image/gif"),
    ("ico", "image/x-icon"),
    ("woff2", "font/woff2"),
];

/// None: it is not served.
pub fn of(file: &str) -> Option<&'static str> {
    let (_, ending) = file.rsplit_once('.')?;
    KINDS.iter().find(|(known, _)| *known == ending).map(|(_, kind)| *kind)
}

/// `.html, .css, …`
pub fn all() -> String {
    KINDS.iter().map(|(ending, _)| format!(".{ending}")).collect::<Vec<_>>().join(", ")
}
