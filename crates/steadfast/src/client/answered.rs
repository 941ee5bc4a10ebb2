//! What a server said, and what the shell is told of it.

use std::fmt::Write as _;

use serde_json::Value;
use ureq::http::HeaderMap;

use super::words::{record, told};
use crate::exit::Exit;
use crate::output::ODD;
use crate::problem::Problem;

pub struct Answered {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answered {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// It was answered as an earlier call under the same idempotency key was.
    pub fn was_done_before(&self) -> bool {
        self.header("idempotency-replayed") == Some("true")
    }

    /// A guard said no.
    pub fn is_refusal(&self) -> bool {
        matches!(self.status, 403 | 409 | 412 | 410)
    }

    /// What to tell when the request itself was wrong, or the server could not.
    pub fn problem(&self) -> Problem {
        let said = self.json();
        let title = said["title"].as_str().unwrap_or("no reason was given").to_string();
        let mut message = match said["detail"].as_str() {
            Some(detail) if detail != title => format!("{title}: {detail}"),
            _ => title,
        };
        if let Some(pointer) = said["pointer"].as_str().filter(|pointer| !pointer.is_empty()) {
            message = format!("{message} (at `{pointer}`)");
        }
        if said.is_null() {
            message = format!("the server answered {}", self.status);
        }
        let problem = Problem::new(message);
        match self.status {
            401 => problem.help("give a token with `--token`, or in STEADFAST_TOKEN"),
            400 if said["type"].as_str().is_some_and(|kind| kind.contains("key")) => {
                problem.help("name the call with `--key`, the same whenever you repeat it")
            }
            429 | 503 => {
                let wait = self.header("retry-after").unwrap_or("a few");
                problem.help(format!("try again in {wait} seconds")).exit(Exit::Unknown)
            }
            500.. => problem.help("the server's log says more").exit(Exit::Unknown),
            _ => problem,
        }
    }
}

/// A refusal, for people.
pub fn refusal(said: &Value) -> String {
    let mut text = String::new();
    let by = match said["guard"].as_str() {
        Some(guard) => format!(" by `{guard}`"),
        None => format!(": {}", told(said["title"].as_str().unwrap_or("without a reason"))),
    };
    let _ = writeln!(text, "{ODD}refused{ODD:#}{by}");
    // what a guard prevents stands in lines of its own, and that it does not hold goes without saying
    let plain =
        said["guard"].as_str().map(|guard| format!("the guard `{guard}` does not hold now"));
    let detail = said["detail"].as_str().and_then(|detail| detail.split("; it prevents: ").next());
    if let Some(detail) = detail.filter(|detail| Some(*detail) != plain.as_deref()) {
        let _ = writeln!(text, "  {}", told(detail));
    }
    let list = |name: &str| said[name].as_array().cloned().unwrap_or_default();
    for failure in list("prevents") {
        let _ = writeln!(text, "  this prevents {}", told(failure.as_str().unwrap_or_default()));
    }
    for seen in list("truth") {
        let _ = writeln!(text, "  it saw {}", record(&seen));
    }
    let legal: Vec<String> = list("legal").iter().map(step_name).collect();
    if !legal.is_empty() {
        let _ = writeln!(text, "  legal now: {}", legal.join(", "));
    }
    text
}

fn step_name(step: &Value) -> String {
    match (step["actor"].as_str(), step["operation"].as_str()) {
        (Some(actor), Some(operation)) => format!("{actor} {operation}"),
        _ => step.as_str().map_or_else(|| step.to_string(), String::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_refusal_tells_what_stood_in_the_way() {
        let said = json!({
            "title": "refused", "guard": "hold.free", "prevents": ["oversell"],
            "truth": [{ "subject": "Seat", "key": ["A1"], "truth": { "S": { "status": "HELD" } } }],
            "legal": ["buyer confirm"],
        });
        let text = refusal(&said);
        for part in
            ["by `hold.free`", "prevents oversell", "Seat A1", "status HELD", "buyer confirm"]
        {
            assert!(text.contains(part), "no {part} in {text}");
        }
    }

    #[test]
    fn of_a_refusal_only_what_is_new_is_told_beside_the_guard() {
        let said = |detail: &str| {
            refusal(&json!({ "guard": "paid", "detail": detail, "prevents": ["unpaid visit"] }))
        };
        let plain = "refused by `paid`\n  this prevents unpaid visit\n";
        let shown = |text: String| anstream::adapter::strip_str(&text).to_string();
        assert_eq!(
            shown(said("the guard `paid` does not hold now; it prevents: unpaid visit")),
            plain
        );
        let added = "the guard `paid` does not hold now; the design `Clinic` adds it to `A08`";
        let told = shown(said(&format!("{added}; it prevents: unpaid visit")));
        assert_eq!(told, format!("refused by `paid`\n  {added}\n  this prevents unpaid visit\n"));
    }

    #[test]
    fn a_problem_says_what_to_do_next() {
        let answered = |status, body: Value| Answered {
            status,
            headers: HeaderMap::new(),
            body: body.to_string().into_bytes(),
        };
        let wrong = answered(422, json!({ "title": "wrong type", "pointer": "/seat" })).problem();
        assert_eq!(wrong.message, "wrong type (at `/seat`)");
        assert!(answered(401, json!({})).problem().help[0].contains("--token"));
        assert_eq!(answered(500, Value::Null).problem().message, "the server answered 500");
    }
}
