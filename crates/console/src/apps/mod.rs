//! Pages of a design for those who use it: files from a folder beside the design, given out as they are at
//! `/app/NAME/`. They call the design over the public API, like any other page of this origin.

mod kinds;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Path as Parts;
use axum::http::header::{HeaderMap, HeaderName, HeaderValue, LOCATION};
use axum::http::{Response, StatusCode};
use axum::routing::{MethodRouter, get};
use axum::{Extension, Router};
use server::problem::{OverHttp as _, Problem};

use crate::{assets, front};

/// Where the files of a design are.
#[derive(Clone, Debug)]
pub enum Files {
    /// Read whenever they are asked for, so that a page that was saved is seen when it is loaded again.
    Folder(PathBuf),
    /// Names below the folder, and what is in them.
    Packed(Vec<(&'static str, &'static [u8])>),
}

/// The folders, by the names that paths call the designs.
#[derive(Clone, Debug, Default)]
pub struct Apps(Arc<BTreeMap<String, Files>>);

impl Apps {
    pub fn new(all: impl IntoIterator<Item = (String, Files)>) -> Apps {
        Apps(Arc::new(all.into_iter().collect()))
    }

    /// Where the page of a design is, if it has one.
    pub fn address(&self, design: &str) -> Option<String> {
        self.0.contains_key(design).then(|| format!("/app/{design}/"))
    }
}

/// The most that one file may have.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// A page runs the scripts that lie beside it, asks this server alone, and stands in nobody's frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
     font-src 'self'; media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What every page may use: calls with keys, a feed that goes on, and who one is.
const LIBRARY: &str = include_str!("steadfast.js");
const STYLE: &str = include_str!("steadfast.css");

pub fn router(apps: &Apps) -> Router {
    let only = |routes: MethodRouter| routes.fallback(front::only_get);
    Router::new()
        .route("/app/{name}", only(get(shared)))
        .route("/app/{name}/", only(get(home)))
        .route("/app/{name}/{*file}", only(get(below)))
        .layer(Extension(apps.clone()))
}

/// What all pages share; or the way to the page of a design.
async fn shared(
    Parts(name): Parts<String>,
    Extension(apps): Extension<Apps>,
    headers: HeaderMap,
) -> Response<Body> {
    let text = match name.as_str() {
        "steadfast.js" => LIBRARY,
        "steadfast.css" => STYLE,
        _ => return there(&apps, &name),
    };
    let kind = kinds::of(&name).unwrap_or("text/plain; charset=utf-8");
    given(kind, text.as_bytes().to_vec(), &headers)
}

/// Links of a page are relative to its folder, so its address ends like one.
fn there(apps: &Apps, name: &str) -> Response<Body> {
    let address = apps.address(name).and_then(|address| HeaderValue::from_str(&address).ok());
    let Some(address) = address else { return none(name).into_response() };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    response.headers_mut().insert(LOCATION, address);
    response
}

async fn home(
    Parts(name): Parts<String>,
    apps: Extension<Apps>,
    headers: HeaderMap,
) -> Response<Body> {
    below(Parts((name, "index.html".to_string())), apps, headers).await
}

async fn below(
    Parts((name, file)): Parts<(String, String)>,
    Extension(apps): Extension<Apps>,
    request: HeaderMap,
) -> Response<Body> {
    let found = tokio::task::spawn_blocking(move || found(&apps, &name, &file)).await;
    let found = found.unwrap_or_else(|_| Err(Problem::unknown("the file cannot be read")));
    match found {
        Ok((kind, bytes)) => given(kind, bytes, &request),
        Err(problem) => problem.into_response(),
    }
}

fn given(kind: &'static str, bytes: Vec<u8>, request: &HeaderMap) -> Response<Body> {
    let mut response = assets::tagged(kind, bytes, request);
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        let headers = response.headers_mut();
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

fn none(name: &str) -> Problem {
    Problem::unknown(format!(
        "`{name}` has no page: a folder `NAME.app` with an `index.html`, beside the file of a design, is served here"
    ))
}

/// What kind a file is, and what is in it.
fn found(apps: &Apps, name: &str, file: &str) -> Result<(&'static str, Vec<u8>), Problem> {
    let files = apps.0.get(name).ok_or_else(|| none(name))?;
    let absent = || Problem::unknown(format!("the page of `{name}` has no file `{file}`"));
    let plain =
        |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', '\0']);
    if !file.split('/').all(plain) {
        return Err(absent());
    }
    let kind = kinds::of(file).ok_or_else(|| {
        Problem::unknown(format!("`{file}` is not served: only files that end in {}", kinds::all()))
    })?;
    let bytes = match files {
        Files::Packed(packed) => {
            packed.iter().find(|(known, _)| *known == file).map(|(_, bytes)| bytes.to_vec())
        }
        Files::Folder(folder) => read(folder, file)
            .map_err(|why| Problem::unknown(format!("`{file}` of the page of `{name}`: {why}")))?,
    };
    Ok((kind, bytes.ok_or_else(absent)?))
}

/// None: there is no such file in the folder; what a link leads to elsewhere is not in it.
fn read(folder: &Path, file: &str) -> Result<Option<Vec<u8>>, String> {
    let found =
        folder.canonicalize().and_then(|folder| Ok((folder.join(file).canonicalize()?, folder)));
    let Ok((path, folder)) = found else { return Ok(None) };
    if !path.starts_with(folder) || !path.is_file() {
        return Ok(None);
    }
    let bytes = fs::metadata(&path).map_err(|error| error.to_string())?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(format!("it has {bytes} bytes, and at most {FILE_BYTES_MAX} are served"));
    }
    fs::read(&path).map(Some).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("steadfast-apps-{}-{name}", std::process::id()));
        let app = folder.join("shop.app");
        fs::create_dir_all(app.join("pictures")).unwrap();
        fs::write(folder.join("secret.html"), "secret").unwrap();
        fs::write(app.join("index.html"), "<h1>shop</h1>").unwrap();
        fs::write(app.join(".hidden.html"), "hidden").unwrap();
        fs::write(app.join("notes.md"), "notes").unwrap();
        fs::write(app.join("pictures/a.svg"), "<svg/>").unwrap();
        std::os::unix::fs::symlink(folder.join("secret.html"), app.join("away.html")).unwrap();
        folder
    }

    #[test]
    fn files_of_the_folder_are_served_and_no_others() {
        let folder = folder("served");
        let apps = Apps::new([("shop".to_string(), Files::Folder(folder.join("shop.app")))]);
        let ask = |file: &str| found(&apps, "shop", file);
        assert_eq!(
            ask("index.html").unwrap(),
            ("text/html; charset=utf-8", b"<h1>shop</h1>".to_vec())
        );
        assert_eq!(ask("pictures/a.svg").unwrap().0, "image/svg+xml");
        for wrong in [
            "../secret.html",
            "pictures/../../secret.html",
            "away.html",
            ".hidden.html",
            "pictures",
            "pictures/",
            "/index.html",
            "..\\secret.html",
            "nothing.html",
            "notes.md",
            "",
        ] {
            assert!(ask(wrong).is_err(), "{wrong}");
        }
        assert!(found(&apps, "other", "index.html").is_err());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_packed_is_served_by_its_name() {
        let packed = Files::Packed(vec![("index.html", b"<h1>"), ("a/b.js", b"1")]);
        let apps = Apps::new([("tickets".to_string(), packed)]);
        assert_eq!(found(&apps, "tickets", "a/b.js").unwrap().1, b"1");
        assert!(found(&apps, "tickets", "b.js").is_err());
        assert_eq!(apps.address("tickets").as_deref(), Some("/app/tickets/"));
        assert_eq!(apps.address("shop"), None);
    }
}
