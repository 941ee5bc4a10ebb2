//! Entries that were set aside because they could not be worked on: another try, or away with them. Both
//! are for operators, and are written down. They wait for the store: not to be called where others are
//! served meanwhile.

use identity::Act;
use runtime::AsideError;
use serde_json::json;

use crate::gateway::Gateway;
use crate::kinds;
use crate::problem::Problem;
use crate::service::Service;

impl Gateway {
    /// Puts an entry back in its queue exactly as it was.
    pub fn try_again(&self, service: &Service, id: &str, by: &str) -> Result<(), Problem> {
        let done = service.runtime.try_again(id);
        self.resolved(service, (Act::EntryRetried, id, by), done)
    }

    /// Throws an entry away.
    pub fn discard(&self, service: &Service, id: &str, by: &str) -> Result<(), Problem> {
        let done = service.runtime.discard(id);
        self.resolved(service, (Act::EntryDiscarded, id, by), done)
    }

    fn resolved(
        &self,
        service: &Service,
        (act, id, by): (Act, &str, &str),
        done: Result<(), AsideError>,
    ) -> Result<(), Problem> {
        done.map_err(|error| match error {
            AsideError::Unknown(_) => Problem::unknown(error.to_string()),
            AsideError::Call(error) => Problem::of_call(service, error),
            error => Problem::new(&kinds::CANNOT, error.to_string()),
        })?;
        // it is done, whether or not the log takes the line
        let _ = self.auditor.done(act, by, json!({ "design": service.name, "id": id }));
        Ok(())
    }
}
