//! Carries effects and events to the world over HTTP: signed as Standard Webhooks say, with
//! CloudEvents attributes, at least once.

mod agent;
mod answer;
mod effects;
mod envelope;
mod exporter;
mod secret;
mod signature;
mod subscription;
mod targets;
mod webhooks;

pub use agent::{Timeouts, agent};
pub use effects::Effects;
pub use exporter::Exporter;
pub use secret::{BadSecret, Secret};
pub use signature::{Forged, sign, verify};
pub use subscription::{Subscription, subscription};
pub use targets::{Target, Targets, Unset};
pub use webhooks::{Standing, Webhooks};
