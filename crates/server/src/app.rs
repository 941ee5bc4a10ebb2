//! What every request sees.

use std::ops::Deref;
use std::sync::Arc;

use gateway::Gateway;

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
}

impl App {
    pub fn new(gateway: Arc<Gateway>) -> App {
        let seats = Seats::new(gateway.limits().connections_max);
        App {
            gateway,
            requests: Requests::default(),
            seats,
            described: Described::default(),
            pages: Pages::default(),
        }
    }
}

impl Deref for App {
    type Target = Gateway;

    fn deref(&self) -> &Gateway {
        &self.gateway
    }
}
