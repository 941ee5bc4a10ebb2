//! What every request sees.

use std::ops::Deref;
use std::sync::Arc;

use gateway::Gateway;

use crate::cors::Origins;
use crate::feed_pages::Pages;
use crate::metrics::Requests;
use crate::openapi::Described;
use crate::seats::Seats;

/// The gateway, and what is counted of HTTP besides.
pub struct App {
    pub gateway: Arc<Gateway>,
    pub requests: Requests,
    pub seats: Arc<Seats>,
    pub described: Described,
    pub pages: Pages,
    /// whose pages may call besides those of this server
    pub origins: Origins,
}

impl App {
    pub fn new(gateway: Arc<Gateway>, origins: Origins) -> App {
        let seats = Seats::new(gateway.limits().connections_max);
        App {
            gateway,
            requests: Requests::default(),
            seats,
            described: Described::default(),
            pages: Pages::default(),
            origins,
        }
    }
}

impl Deref for App {
    type Target = Gateway;

    fn deref(&self) -> &Gateway {
        &self.gateway
    }
}
