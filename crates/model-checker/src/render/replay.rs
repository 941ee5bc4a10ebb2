//! A history as calls on a live server: a shell script with curl.

use std::fmt::Write as _;

use design::model::{Design, Operation};

use super::Shown;
use super::replay_end::{ending, is_made};
use super::replay_value::{Length, duration, json_of, key, reference};
use super::sentence::{sentence, who};
use super::words::{clean, does};
use crate::{StepKind, TraceStep};

const PROLOGUE: &str = r#"
# Needs curl and jq. A server of this design answers at $STEADFAST, for example
# STEADFAST=http://127.0.0.1:7070. Time passes only when this script says so: start it with
#     steadfast serve DESIGN --store memory: --clock manual
# If it asks for tokens, give one to each principal: TOKEN_buyer_1=… for buyer-1, and TOKEN_operator
# with all roles for the clock and for reading. Without tokens each call says for whom it is made.
set -eu
: "${STEADFAST:?set it to the address of the server}"
remembered=$(mktemp -d)
trap 'rm -rf "$remembered"' EXIT
answer='{}'
calls=0
differs=

# call PRINCIPAL ACTOR/OPERATION PARAMETERS: prints the server's answer and keeps it in $answer
call() {
    eval "token=\${TOKEN_$(printf %s "$1" | tr -c 'A-Za-z0-9' _):-}"
    printf '\n%s: %s %s\n' "$1" "$2" "$3"
    calls=$((calls + 1))
    answer=$(curl -sS -X POST "$STEADFAST/v1/$design/$2" \
        -H 'content-type: application/json' -H "steadfast-as: $1" \
        -H "idempotency-key: \"$(basename "$remembered")-$calls\"" \
        ${token:+-H "authorization: Bearer $token"} -d "$3")
    printf '%s\n' "$answer"
}

# keep PRINCIPAL FIELD RECORD: what the last answer handed out
keep() { printf '%s' "$answer" | jq -c --arg f "$2" '.memory[$f] // null' > "$remembered/$1 $2 $3"; }

# forget PRINCIPAL: it has lost its memory
forget() { rm -f "$remembered/$1 "*; }

# with PARAMETERS PRINCIPAL FIELD RECORD: the parameters, and what was remembered
with() {
    held=$(cat "$remembered/$2 $3 $4" 2> /dev/null || echo null)
    printf '%s' "$1" | jq -c --arg f "$3" --argjson v "$held" '. + {($f): $v}'
}

# clock WISH: moves the clock of the server, or has one repair run; nothing else happens by itself
clock() {
    code=$(curl -sS -o "$remembered/clock" -w '%{http_code}' -X POST "$STEADFAST/v1/clock" \
        -H 'content-type: application/json' \
        ${TOKEN_operator:+-H "authorization: Bearer $TOKEN_operator"} \
        -d "$(printf '%s' "$1" | jq -c --arg d "$design" \
            '{hold: true} + . + if .repair then {design: $d} else {} end')")
    if [ "$code" != 200 ]; then
        cat "$remembered/clock"
        printf '\nthe clock of this server cannot be moved: start it with --clock manual\n'
        exit 2
    fi
}

# expect RECORD PART VALUE: reads truth, and says so if it is not as the history has it
expect() {
    found=$(curl -sS "$STEADFAST/v1/$design/$1" \
        ${TOKEN_operator:+-H "authorization: Bearer $TOKEN_operator"} | jq -c "$2")
    printf '  %s %s: %s' "$1" "$2" "$found"
    if [ "$found" = "$3" ]; then echo; else printf ', and not %s\n' "$3"; differs=yes; fi
}
"#;

/// The script for one history of a search whose clock moves by fixed steps (`Options::regions` is off).
/// `name` is what the server calls the design.
pub fn replay(name: &str, design: &Design, shown: &Shown<'_>) -> String {
    let mut out = String::from("#!/bin/sh\n");
    comment(&mut out, &format!("{}: {}", design.name, shown.title));
    match shown.claim {
        Some(claim) => {
            comment(&mut out, claim);
            comment(
                &mut out,
                "A server of the whole design refuses where the history says so, and",
            );
            comment(
                &mut out,
                "then this ends with exit code 1; one without the protection: with 0.",
            );
        }
        None => comment(&mut out, "The design as written is violated so."),
    }
    let length = Length::of(design);
    out.push_str(PROLOGUE);
    let _ = writeln!(out, "design={}", quoted(name));
    out.push_str("clock '{}'\n");
    let mut ticks = 0;
    for (at, step) in shown.trace.steps.iter().enumerate() {
        out.push('\n');
        if shown.trace.cycle_start == Some(at) {
            comment(&mut out, "from here on, for ever:");
        }
        comment(&mut out, &format!("{}. {}", at + 1, sentence(step)));
        if let Some(clause) = &step.would_have_refused {
            comment(&mut out, &format!("{clause} {} here", does(clause)));
        }
        if step.kind == StepKind::Tick {
            let wish = serde_json::json!({ "advance": duration(length.of_tick(ticks)) });
            let _ = writeln!(out, "clock {}", quoted(&wish.to_string()));
            ticks += 1;
        } else {
            one(&mut out, design, step);
        }
    }
    out.push('\n');
    ending(&mut out, design, shown);
    out
}

/// Calls are made and the clock is moved; what the world or a fault does is only told.
fn one(out: &mut String, design: &Design, step: &TraceStep) {
    let operation = step.operation.and_then(|id| design.operations.get(id.index()));
    match (operation, step.kind) {
        (Some(operation), StepKind::Repair) => {
            let subject = operation.params.first().and_then(|param| param.ty.subject());
            let shown = step.params.first().map(|(_, shown)| shown.as_str());
            let Some((subject, shown)) = subject.zip(shown) else { return };
            let key = match key(design, subject, shown) {
                serde_json::Value::Array(parts) => parts,
                one => vec![one],
            };
            let wish = serde_json::json!({ "repair": operation.name, "key": key });
            let _ = writeln!(out, "clock {}", quoted(&wish.to_string()));
        }
        (Some(operation), _) if is_made(design, step) => calls(out, design, step, operation),
        (_, StepKind::Fault) if step.name == "crash" => {
            let _ = writeln!(out, "forget {}", quoted(&who(step)));
        }
        (_, StepKind::Effect | StepKind::Answer) => {
            comment(out, "the world outside does this");
        }
        (Some(operation), StepKind::World) if operation.hears.is_some() => {
            comment(out, "another design emits this");
        }
        (_, StepKind::Delivery) if step.operation.is_some() => {
            comment(out, "the server delivers messages by itself");
        }
        _ => comment(out, "nothing to call"),
    }
}

fn calls(out: &mut String, design: &Design, step: &TraceStep, operation: &Operation) {
    let principal = quoted(&who(step));
    let actor = design.actors.get(operation.actor.index()).map_or("", |actor| &actor.name);
    let params: Vec<String> = operation
        .params
        .iter()
        .zip(&step.params)
        // the server chooses another one each time
        .filter(|(param, _)| param.generated.is_none())
        .map(|(param, (name, value))| {
            format!("{}:{}", serde_json::json!(name), json_of(design, &param.ty, value))
        })
        .collect();
    let _ = writeln!(out, "params={}", quoted(&format!("{{{}}}", params.join(","))));
    let uses = operation.memory.iter().filter_map(|usage| {
        let held = design.actors.get(usage.actor.index())?;
        let field = &held.memory.get(usage.field.index())?.name;
        let of = usage.of.and_then(|local| {
            let at = operation.params.iter().position(|param| param.local == local)?;
            Some(reference(&step.params.get(at)?.1))
        });
        let words = format!("{principal} {} {}", quoted(field), quoted(&of.unwrap_or_default()));
        Some((usage, words))
    });
    let uses: Vec<_> = uses.collect();
    for (_, words) in uses.iter().filter(|(usage, _)| usage.read) {
        let _ = writeln!(out, "params=$(with \"$params\" {words})");
    }
    let path = quoted(&format!("{actor}/{}", operation.name));
    let _ = writeln!(out, "call {principal} {path} \"$params\"");
    if step.fault.as_deref().is_some_and(|faults| faults.contains("lost_reply")) {
        comment(out, &format!("{} never learns of this answer", who(step)));
        return;
    }
    for (_, words) in uses.iter().filter(|(usage, _)| usage.written) {
        let _ = writeln!(out, "keep {words}");
    }
}

pub(super) fn comment(out: &mut String, text: &str) {
    let _ = writeln!(out, "# {}", clean(text));
}

/// One word for the shell, whatever is in it.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", clean(text).replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_design_leaves_its_quotes() {
        assert_eq!(quoted("it's; rm -rf $HOME"), r"'it'\''s; rm -rf $HOME'");
        let mut out = String::new();
        comment(&mut out, "one\ntwo");
        assert_eq!(out.lines().count(), 1);
    }
}
