//! A server that is up, and everything that ends with it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use gateway::{Gateway, Standing};
use outgoing::Exporter;
use server::Running;
use store::Store;

use crate::commands::clock::ServerClock;
use crate::commands::host::Host;
use crate::commands::store_watch::StoreWatch;
use crate::commands::tries::{self, Try};

pub struct Up {
    pub running: Running,
    pub host: Arc<Host>,
    pub clock: ServerClock,
    pub exporter: Option<Exporter>,
    pub watch: Option<StoreWatch>,
    pub store: Arc<dyn Store>,
    /// nobody is let in without a token
    pub tokens: bool,
    /// the directory of keys, if there is one
    pub keys: PathBuf,
    /// designs whose verdict is not known are being checked
    pub checking: bool,
}

impl Up {
    pub fn url(&self) -> String {
        self.running.url()
    }

    pub fn gateway(&self) -> &Arc<Gateway> {
        self.running.gateway()
    }

    /// What is known of each design.
    pub fn standings(&self) -> Vec<(String, Standing)> {
        let services = self.gateway().services();
        services.map(|service| (service.name.clone(), service.standing())).collect()
    }

    /// A call of any of the designs that works on an empty store.
    pub fn first(&self) -> Option<Try> {
        self.gateway().services().find_map(|service| tries::first(&service.name, service.design()))
    }

    /// Serves until the process is asked to end. `beside` runs meanwhile; what it is given is
    /// disconnected when it shall end.
    pub fn until_signal(self, beside: impl FnOnce(&Receiver<()>) + Send) {
        let Up { running, host, clock, exporter, watch, store, .. } = self;
        let (stop, stopped) = channel();
        std::thread::scope(|scope| {
            scope.spawn(move || beside(&stopped));
            running.until_signal();
            drop(stop);
        });
        host.stop();
        clock.close();
        // what was recorded last is told first
        drop((exporter, watch));
        let _ = store::block_on(store.close());
    }
}
