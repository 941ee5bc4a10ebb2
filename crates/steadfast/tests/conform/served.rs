//! The same over HTTP: a server on a free port of this machine, with one design for each history.

use std::net::SocketAddr;
use std::sync::Arc;

use gateway::Service;
use model_checker::sample::{Drawn, Event, TICK_MS};
use replay::{Carrier, Door};
use server::Config;
use ureq::Agent;

use crate::conform::walk::Walk;

/// Repairs and deliveries are the server's own: no request makes them.
fn is_call(drawn: &Drawn) -> bool {
    let (Drawn::Taken(event, _) | Drawn::Refused(event, _)) = drawn;
    matches!(event, Event::Call(..) | Event::Land(..))
}

/// Carries out so many of what was drawn by calls over HTTP, and reads truth the same way.
pub fn over_http(text: &str, walk: &mut Walk<'_>, most: usize) {
    let mut ready: Vec<Carrier> = (0..most).map(|_| Carrier::new(&walk.design, TICK_MS)).collect();
    let services = ready.iter().enumerate();
    let services = services
        .map(|(at, carrier)| Service::new(&format!("w{at}"), text, Arc::clone(&carrier.runtime)));
    let config = Config {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        collecting: None,
        ..Config::default()
    };
    let running = server::start(config, services.collect()).expect("a port is free");
    let agent: Agent =
        Agent::config_builder().http_status_as_error(false).proxy(None).build().into();
    for (at, carrier) in ready.iter_mut().enumerate() {
        carrier.door = Door::Http(agent.clone(), format!("{}/v1/w{at}", running.url()));
    }
    walk.all(most, is_call, &mut || ready.pop().expect("one for each"));
    running.stop();
}
