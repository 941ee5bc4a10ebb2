//! What every request sees.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::config::{Config, Limits};
use crate::problem::Problem;
use crate::service::Service;

pub struct App {
    pub config: Config,
    services: Vec<Arc<Service>>,
    /// requests that are being answered
    in_flight: AtomicUsize,
    /// told to stop: what was accepted is finished, nothing new is begun
    stopping: AtomicBool,
}

impl App {
    pub fn new(config: Config, services: Vec<Service>) -> App {
        App {
            config,
            services: services.into_iter().map(Arc::new).collect(),
            in_flight: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
        }
    }

    pub fn limits(&self) -> &Limits {
        &self.config.limits
    }

    pub fn services(&self) -> &[Arc<Service>] {
        &self.services
    }

    pub fn service(&self, name: &str) -> Result<&Arc<Service>, Problem> {
        let found = self.services.iter().find(|service| service.name == name);
        found.ok_or_else(|| Problem::unknown(format!("no design `{name}` is served here")))
    }

    /// A place among the requests that are being answered, or the advice to come again.
    pub fn enter(self: &Arc<App>) -> Result<Place, Problem> {
        let before = self.in_flight.fetch_add(1, Ordering::Relaxed);
        let place = Place(Arc::clone(self));
        if before >= self.limits().in_flight_max {
            return Err(Problem::overloaded());
        }
        Ok(place)
    }

    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

/// Given back when the request is answered, or its client has left.
pub struct Place(Arc<App>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
