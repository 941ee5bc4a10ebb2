//! What every request sees.

use std::ops::Deref;
use std::sync::Arc;

use gateway::Gateway;

use crate::metrics::Requests;

/// The gateway, and what is counted of HTTP besides.
pub struct App {
    pub gateway: Arc<Gateway>,
    pub requests: Requests,
}

impl App {
    pub fn new(gateway: Arc<Gateway>) -> App {
        App { gateway, requests: Requests::default() }
    }
}

impl Deref for App {
    type Target = Gateway;

    fn deref(&self) -> &Gateway {
        &self.gateway
    }
}
