//! What every call sees.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use identity::Identity;
use tokio::sync::watch;

use crate::access::audit::Auditor;
use crate::admin::{StoreState, Told};
use crate::collections::Collections;
use crate::idempotency::UnderWay;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::service::Service;
use crate::settings::Settings;
use crate::uploads::Uploads;

/// The services of one process, and what all their callers share.
pub struct Gateway {
    pub settings: Settings,
    pub identity: Arc<Identity>,
    pub auditor: Auditor,
    services: Vec<Slot>,
    /// idempotency keys whose first request is not answered yet
    pub(crate) under_way: Arc<UnderWay>,
    pub collections: Collections,
    pub(crate) uploads: Uploads,
    /// bytes of bodies that callers have sent
    pub(crate) held: Arc<AtomicUsize>,
    /// whoever checks a design holds it
    pub(crate) checking: Mutex<()>,
    /// requests that are being answered
    in_flight: Arc<AtomicUsize>,
    followers: Arc<AtomicUsize>,
    transfers: Arc<AtomicUsize>,
    /// told to stop: what was accepted is finished, nothing new is begun
    stopping: watch::Sender<bool>,
}

impl Gateway {
    pub fn new(
        settings: Settings,
        services: Vec<Service>,
        identity: Arc<Identity>,
        auditor: Auditor,
    ) -> Gateway {
        Gateway {
            settings,
            identity,
            auditor,
            services: services.into_iter().map(Slot::new).collect(),
            under_way: Arc::default(),
            collections: Collections::default(),
            uploads: Uploads::default(),
            held: Arc::default(),
            checking: Mutex::default(),
            in_flight: Arc::default(),
            followers: Arc::default(),
            transfers: Arc::default(),
            stopping: watch::Sender::new(false),
        }
    }

    pub fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    pub fn services(&self) -> impl Iterator<Item = Arc<Service>> {
        self.services.iter().map(|slot| slot.now.load_full())
    }

    pub fn service(&self, name: &str) -> Result<Arc<Service>, Problem> {
        self.find(name).ok_or_else(|| {
            let instead = design::instead(name, self.services.iter().map(|slot| &*slot.name));
            Problem::unknown(format!("no design `{name}` is served here; {instead}"))
        })
    }

    /// The service of this name, as it is now. Whoever has it may go on with it after a replacement.
    pub fn find(&self, name: &str) -> Option<Arc<Service>> {
        self.slot(name).map(|slot| slot.now.load_full())
    }

    fn slot(&self, name: &str) -> Option<&Slot> {
        self.services.iter().find(|slot| slot.name == name)
    }

    /// From now on requests find this one in the place of the service of its name.
    pub(crate) fn switch_to(&self, service: Service) {
        if let Some(slot) = self.slot(&service.name) {
            slot.now.store(Arc::new(service));
        }
    }

    /// How the store is.
    pub fn store(&self) -> StoreState {
        self.settings.admin.as_ref().map(|admin| admin.0.store()).unwrap_or_default()
    }

    /// Who is told of the events of a design.
    pub fn told(&self, design: &str) -> Vec<Told> {
        self.settings.admin.as_ref().map_or_else(Vec::new, |admin| admin.0.told(design))
    }

    /// A place among the requests that are being answered, or the advice to come again.
    pub fn enter(&self) -> Result<Place, Problem> {
        Place::among(&self.in_flight, self.limits().in_flight_max).ok_or_else(Problem::overloaded)
    }

    /// A place among those who follow a feed.
    pub fn follow(&self) -> Result<Place, Problem> {
        Place::among(&self.followers, self.limits().followers_max).ok_or_else(Problem::overloaded)
    }

    /// A place among those who bring or take much content.
    pub fn transfer(&self) -> Result<Place, Problem> {
        Place::among(&self.transfers, self.limits().transfers_max).ok_or_else(Problem::overloaded)
    }

    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub fn transfers(&self) -> usize {
        self.transfers.load(Ordering::Relaxed)
    }

    pub fn followers(&self) -> usize {
        self.followers.load(Ordering::Relaxed)
    }

    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Ends when the server is told to stop.
    pub async fn stopped(&self) {
        // the sender is ours: it is not gone
        let _ = self.stopping.subscribe().wait_for(|stopping| *stopping).await;
    }
}

/// A service, whichever version of it is served now. No request takes a lock to find it, and an earlier
/// version is gone with the last request that goes on with it.
struct Slot {
    name: String,
    now: ArcSwap<Service>,
}

impl Slot {
    fn new(service: Service) -> Slot {
        Slot { name: service.name.clone(), now: ArcSwap::from_pointee(service) }
    }
}

/// One of a limited number, given back when it is dropped.
pub struct Place(Arc<AtomicUsize>);

impl Place {
    fn among(taken: &Arc<AtomicUsize>, most: usize) -> Option<Place> {
        let before = taken.fetch_add(1, Ordering::Relaxed);
        // dropped again, if there was no room
        let place = Place(Arc::clone(taken));
        (before < most).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
