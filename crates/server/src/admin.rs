//! What a server leaves to whoever started it: it knows the store's own language, and this crate
//! does not.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::service::Service;

pub trait Admin: Send + Sync {
    /// Copies the store while it serves, and checks the copy. Gives what it holds.
    fn backup(&self, to: &Path) -> Result<Value, AdminError>;

    /// Puts another version of a design in the place of the one that is served.
    fn replace(&self, old: &Service, text: &str, drop: &[String]) -> Result<Service, AdminError>;
}

/// Why an operator's wish was not carried out.
#[derive(Debug)]
pub enum AdminError {
    /// the text does not compile, a line for each reason
    Design(Vec<String>),
    /// stored truth cannot follow
    Unsafe {
        detail: String,
        obstacles: Value,
    },
    Cannot(String),
}

/// The operator's side, in a configuration.
#[derive(Clone)]
pub struct AdminHandle(pub Arc<dyn Admin>);

impl fmt::Debug for AdminHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an operator's side")
    }
}
