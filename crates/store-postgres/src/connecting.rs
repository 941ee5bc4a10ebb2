//! One connection.

use tokio_postgres::{Client, Config};

use crate::failures::told;
use crate::tls::Tls;

/// Opens connections to one address.
#[derive(Clone)]
pub struct Connector {
    config: Config,
    tls: Tls,
    /// The address, as it is said.
    shown: String,
}

impl Connector {
    pub fn new(config: Config, tls: Tls, shown: String) -> Self {
        Connector { config, tls, shown }
    }

    /// A connection, which is kept going beside whoever uses it. It ends when its client is dropped.
    pub async fn connect(&self) -> Result<Client, NotConnected> {
        match self.config.connect(self.tls.clone()).await {
            Ok((client, connection)) => {
                tokio::spawn(async move {
                    // whoever waits for an answer is told
                    let _ = connection.await;
                });
                Ok(client)
            }
            Err(error) => Err(self.not_connected(&error)),
        }
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn tls(&self) -> Tls {
        self.tls.clone()
    }

    pub fn not_connected(&self, error: &tokio_postgres::Error) -> NotConnected {
        let code = error.code().map(|code| code.code().to_owned());
        NotConnected { why: format!("`{}`: {}", self.shown, told(error)), code }
    }
}

/// Why there is no connection.
#[derive(Clone, Debug)]
pub struct NotConnected {
    pub why: String,
    /// As PostgreSQL says it, if that could be reached.
    pub code: Option<String>,
}
