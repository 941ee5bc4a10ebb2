//! The end of a history: time passes, and everything that is due is done.

use std::sync::Arc;

use design::Scale;
use design::model::{Design, OperationKind, StmtKind, duration_text, visit};
use runtime::{Clock, Delivered, Delivery, Outside, Worked};
use serde_json::{Map, Value as Json};

use crate::carrier::Carrier;
use crate::judge::Judge;
use crate::line::Line;

/// Says yes to everything.
struct Agrees<'d>(&'d Design);

impl Outside for Agrees<'_> {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        let named = |operation: &&design::model::Operation| operation.name == delivery.effect;
        let value = self.0.operations.iter().find(named).and_then(|operation| {
            let OperationKind::Effect(effect) = &operation.kind else { return None };
            let local = effect.on_ok.param?;
            crate::json::any(self.0, &operation.locals[local.index()].ty, effect.on_ok.range)
        });
        Delivered::Ok(value.unwrap_or(Json::Null))
    }
}

/// So often everything that is due is done.
const ROUNDS: usize = 12;

/// Time passes, and all that is due is done: repairs, messages, calls to a world that agrees. Gives whether the goal,
/// a `recovers`, is kept after any of it.
pub fn settle(
    carrier: &mut Carrier,
    lines: &mut Vec<Line>,
    judge: &mut Judge,
) -> Result<bool, String> {
    let mut kept = false;
    let longest = longest(&carrier.design).max(60_000);
    let mut passed = 0;
    for round in 0..ROUNDS {
        for _ in 0..64 {
            let now = carrier.clock.now_ms();
            let due = carrier.runtime.due(1_000).map_err(|error| error.to_string())?;
            let mut done = 0;
            for due in due.iter().filter(|due| due.at <= now) {
                let fired = carrier.runtime.fire_early(&due.repair, &due.key);
                if let runtime::Fired::Done = fired.map_err(|error| error.to_string())? {
                    done += 1;
                    send_again(carrier, &due.repair);
                    let what =
                        format!("repairs: {} of {}{}", due.repair, due.subject, keys(&due.key));
                    lines.push(Line::new("the server", what, "done"));
                }
            }
            judge.look(carrier, None)?;
            kept |= judge.is_recovered(carrier);
            let chosen = |name: &str, args: &Map<String, Json>| {
                !carrier.lost.contains(&format!("{name} {}", Json::Object(args.clone())))
            };
            let outside = Agrees(&carrier.design);
            while let Worked::Tried = carrier
                .runtime
                .deliver_chosen(&outside, &chosen)
                .map_err(|error| error.to_string())?
            {
                done += 1;
                if done > 200 {
                    break;
                }
            }
            judge.look(carrier, None)?;
            kept |= judge.is_recovered(carrier);
            if done == 0 {
                break;
            }
        }
        let step = longest << round.min(3);
        carrier.clock.advance(step);
        passed += step;
    }
    let what = format!("{} pass, and everything that is due is done", duration_text(passed));
    lines.push(Line::new("the clock", what, ""));
    Ok(kept)
}

/// A message that was lost is not lost for ever if a repair sends the same once more, or something that makes
/// another step send it.
fn send_again(carrier: &mut Carrier, repair: &str) {
    let design = Arc::clone(&carrier.design);
    let mut reached: Vec<usize> =
        (0..design.operations.len()).filter(|at| design.operations[*at].name == repair).collect();
    let mut at = 0;
    while at < reached.len() {
        visit::each_statement(&design.operations[reached[at]].body, &mut |statement| {
            if let StmtKind::Send { operation, .. } = &statement.kind {
                let name = format!("{} ", design.operations[operation.index()].name);
                carrier.lost.retain(|lost| !lost.starts_with(&name));
                if !reached.contains(&operation.index()) {
                    reached.push(operation.index());
                }
            }
        });
        at += 1;
    }
}

fn keys(key: &[Json]) -> String {
    Json::Array(key.to_vec()).to_string()
}

/// The longest duration of a design, how long a repair waits included.
fn longest(design: &Design) -> i64 {
    let written = Scale::of(design).durations.into_iter().map(|(ms, _)| ms);
    let waited = design.operations.iter().map(|operation| match operation.kind {
        OperationKind::Repair { after, every, .. } => after.max(every).unwrap_or(0),
        _ => 0,
    });
    written.chain(waited).max().unwrap_or(0)
}
