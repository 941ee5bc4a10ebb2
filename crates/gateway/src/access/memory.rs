//! What callers remember, as it travels: sealed on the way out, and taken back only where it
//! belongs.

use engine::token::Claims;
use runtime::{MemoryPlace, Reply, Request};
use serde_json::{Map, Value};

use super::Caller;
use crate::gateway::Gateway;
use crate::kinds;
use crate::problem::Problem;
use crate::service::Service;

/// Where the memory that a call hands out belongs.
#[derive(Debug, Default)]
pub struct Memory {
    places: Vec<MemoryPlace>,
    /// the step takes a record, which only its answer names: its actor, its name, its parameters
    taking: Option<(String, String, Map<String, Value>)>,
}

fn claims<'a>(
    service: &'a Service,
    principal: &'a str,
    place: &'a MemoryPlace,
    value: &'a [u8],
) -> Claims<'a> {
    Claims {
        design: &service.name,
        actor: &place.actor,
        principal,
        subject: &place.subject,
        key: &place.key,
        field: &place.field,
        value,
    }
}

/// Puts what was sealed into the request as it was; what the operation does not look at is left
/// out.
pub fn unseal(
    gateway: &Gateway,
    service: &Service,
    caller: &Caller,
    request: &mut Request,
) -> Result<Memory, Problem> {
    let places = service.runtime.memory_places(&request.actor, &request.operation, &request.params);
    let given = std::mem::take(&mut request.memory);
    for place in places.iter().filter(|place| place.read) {
        let value = match given.get(&place.name) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => opened(gateway, service, caller, place, text),
            Some(_) => Err("it is a text that an earlier answer gave".to_string()),
        };
        let value = value.map_err(|why| {
            Problem::new(&kinds::NOT_HANDED_OUT, format!("`{}`: {why}", place.name))
                .pointer(format!("/{}", place.name.replace('~', "~0").replace('/', "~1")))
        })?;
        request.memory.insert(place.name.clone(), value);
    }
    let Request { actor, operation, params, .. } = &*request;
    let takes = service.takes(actor, operation);
    let taking = takes.then(|| (actor.clone(), operation.clone(), params.clone()));
    Ok(Memory { places, taking })
}

fn opened(
    gateway: &Gateway,
    service: &Service,
    caller: &Caller,
    place: &MemoryPlace,
    text: &str,
) -> Result<Value, String> {
    let invented = || "it was not handed out here, or long ago".to_string();
    let bytes = gateway.identity.unseal(text).ok_or_else(invented)?;
    let held = Claims::read(&bytes).ok_or_else(invented)?;
    let wanted = claims(service, &caller.principal, place, &[]);
    // an earlier version may have handed it out, under the names of its time
    let value = held.fits(&wanted).or_else(|misfit| {
        let former = place.former.iter().find_map(|(actor, subject, field)| {
            held.fits(&Claims { actor, subject, field, ..wanted }).ok()
        });
        former.ok_or(misfit)
    });
    let value = value.map_err(|at| format!("it was handed out for another {}", at.name()))?;
    serde_json::from_slice(value).map_err(|_| invented())
}

impl Memory {
    /// Seals what an answer hands out.
    pub fn seal(
        &self,
        gateway: &Gateway,
        service: &Service,
        principal: &str,
        reply: &mut Reply,
    ) -> Result<(), Problem> {
        let mut taken = Vec::new();
        if let (Some((actor, operation, params)), Value::Object(chosen)) =
            (&self.taking, &reply.result)
        {
            let mut params = params.clone();
            params.extend(chosen.clone());
            taken = service.runtime.memory_places(actor, operation, &params);
        }
        for (name, value) in reply.memory.iter_mut().filter(|(_, value)| !value.is_null()) {
            let place = taken.iter().chain(&self.places).find(|place| place.name == *name);
            let text = value.to_string();
            let mut bytes = Vec::with_capacity(256);
            let place = place.ok_or_else(Problem::broken)?;
            claims(service, principal, place, text.as_bytes()).write(&mut bytes);
            *value = gateway.identity.seal(&bytes).ok_or_else(Problem::broken)?.into();
        }
        Ok(())
    }
}
