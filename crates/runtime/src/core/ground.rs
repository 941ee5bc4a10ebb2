//! Where transactions run: alone in this process, or against others on a store far away.

use store::{Decision, Ground, Recent, Settled, Store, Ticket, Transaction};

use super::runtime::Runtime;
use super::settings::Settings;

/// On a store in this process it runs once, and may not be durable yet. On any other it is run on
/// what was fetched, again and again if others are faster, and is durable. Only the last run counts:
/// what it tells goes through what it captures.
pub async fn transact<R: FnMut(&mut dyn Transaction) -> Decision + ?Sized>(
    store: &dyn Store,
    recent: Option<&Recent>,
    settings: &Settings,
    run: &mut R,
) -> store::Result<Settled> {
    match store.local() {
        Some(local) => {
            let ticket = local.transact(&mut |transaction| run(transaction))?;
            Ok(Settled { ticket, conflicts: 0 })
        }
        None => {
            let (surroundings, retry) = (settings.surroundings.as_ref(), &settings.conflicts);
            store::transact(Ground { surroundings, store, recent, retry }, run).await
        }
    }
}

impl Runtime {
    pub(crate) async fn on_ground<R: FnMut(&mut dyn Transaction) -> Decision + ?Sized>(
        &self,
        run: &mut R,
    ) -> store::Result<Ticket> {
        let settled = transact(self.store.as_ref(), Some(&self.recent), &self.settings, run).await;
        match &settled {
            Ok(settled) => self.counters.met(settled.conflicts),
            Err(store::Error::Contended { attempts }) => self.counters.met(*attempts),
            Err(_) => {}
        }
        settled.map(|settled| settled.ticket)
    }

    /// A look at the newest state, whoever has the say over the design.
    pub(crate) fn look(
        &self,
        run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
    ) -> store::Result<Ticket> {
        self.block_on(self.on_ground(run))
    }

    /// Runs a future to its end, on a thread that may wait.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.settings.surroundings.block_on(future)
    }

    /// Others may change the store as well, from other processes.
    pub(crate) fn is_shared(&self) -> bool {
        self.store.local().is_none()
    }
}
