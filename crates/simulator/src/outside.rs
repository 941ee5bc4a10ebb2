//! The world that effects call. It keeps to its keys, as it promises, and is hostile otherwise: calls and answers are
//! lost, and it may say no.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use design::model::{Answer, Design, Effect, Operation, OperationKind, Type};
use runtime::{Delivered, Delivery, Outside};
use store::Surroundings;

use crate::drawing::Drawing;
use crate::ledger::{Ledger, Note};
use crate::locking::lock;
use crate::running::Running;

pub struct Provider {
    state: Mutex<State>,
    ledger: Arc<Mutex<Ledger>>,
    running: Arc<Mutex<Running>>,
    surroundings: Arc<dyn Surroundings>,
}

struct State {
    design: Arc<Design>,
    drawing: Drawing,
    decided: BTreeMap<String, Delivered>,
    hostile: bool,
}

impl Provider {
    pub fn new(
        design: Arc<Design>,
        drawing: Drawing,
        ledger: Arc<Mutex<Ledger>>,
        running: Arc<Mutex<Running>>,
        surroundings: Arc<dyn Surroundings>,
    ) -> Provider {
        let state = State { design, drawing, decided: BTreeMap::new(), hostile: true };
        Provider { state: Mutex::new(state), ledger, running, surroundings }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn serves(&self, design: &Arc<Design>) {
        self.lock().design = Arc::clone(design);
    }

    /// From now on every call arrives, and so does its answer.
    pub fn agree(&self) {
        self.lock().hostile = false;
    }

    fn effect<'d>(design: &'d Design, delivery: &Delivery) -> Option<(&'d Operation, &'d Effect)> {
        design.operations.iter().find_map(|operation| match &operation.kind {
            OperationKind::Effect(effect) if operation.name == delivery.effect => {
                Some((operation, &**effect))
            }
            _ => None,
        })
    }

    fn answer_type(
        design: &Design,
        delivery: &Delivery,
        of: fn(&Effect) -> &Answer,
    ) -> Option<Type> {
        let (operation, effect) = Provider::effect(design, delivery)?;
        Some(operation.locals[of(effect).param?.index()].ty.clone())
    }

    fn signs(design: &Design, delivery: &Delivery) -> bool {
        Provider::effect(design, delivery).is_some_and(|(_, effect)| effect.sign.is_some())
    }
}

impl Outside for Provider {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        let lost =
            |trouble: &str| Delivered::Unknown { trouble: trouble.into(), retry_after_ms: None };
        let design = Arc::clone(&self.lock().design);
        let (ok, no) = (
            Provider::answer_type(&design, delivery, |effect| &effect.on_ok),
            Provider::answer_type(&design, delivery, |effect| &effect.on_refused),
        );
        // It was asked for by something that is durable. Others may go on meanwhile, so nothing is held.
        let newest = lock(&self.running).newest(0);
        let head = newest.revision(&*self.surroundings);
        let mut state = self.lock();
        if state.hostile && state.drawing.percent(20) {
            return lost("the call did not arrive");
        }
        if !state.decided.contains_key(&delivery.key) {
            // nobody here holds a key that signs
            let yes = state.drawing.percent(80) && !Provider::signs(&design, delivery);
            let ty = if yes { &ok } else { &no };
            let value = state.drawing.answer(&design, ty.as_ref());
            let decided = if yes { Delivered::Ok(value) } else { Delivered::Refused(value) };
            state.decided.insert(delivery.key.clone(), decided);
            if yes {
                let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
                ledger.note(head, Note::Did(delivery.key.clone()));
            }
        }
        if state.hostile && state.drawing.percent(20) {
            return lost("the answer was lost");
        }
        state.decided[&delivery.key].clone()
    }
}
