//! `steadfast servers`

use clap::Args;
use serde_json::Value;

use super::Answer;
use crate::client::{ServerOptions, told};
use crate::exit::Exit;
use crate::output::{ERROR, GOOD, ODD, Output, STRONG};

/// List the servers that share a store, what each does, and which versions are live
///
/// Any of them can be asked: what it answers stands in the store. A server that ended without a word is
/// listed for another 100 seconds. Where tokens are asked for it takes one with all roles. Exits 1 when one
/// of the servers does not serve.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast servers
  steadfast servers --server http://10.0.0.7:7070
  steadfast servers --json")]
pub struct Servers {
    #[command(flatten)]
    server: ServerOptions,
}

impl Servers {
    pub fn run(self, output: &mut Output) -> Answer {
        let client = self.server.client()?;
        let answered = client.get("/v1/admin/servers", &[])?;
        if !answered.is_ok() {
            return Err(answered.problem());
        }
        let said = answered.json();
        output.print(&if self.server.json { format!("{said}\n") } else { shown(&said) });
        let all_serve = list(&said, "servers").iter().all(|server| server["state"] == "serving");
        Ok(if all_serve { Exit::Yes } else { Exit::No })
    }
}

fn list<'v>(of: &'v Value, name: &str) -> &'v [Value] {
    of[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(of: &Value, name: &str) -> Option<String> {
    of[name].as_str().map(told)
}

fn shown(said: &Value) -> String {
    let mut out = String::new();
    let servers = list(said, "servers");
    for server in servers {
        server_lines(&mut out, server, said["shared"] == true);
    }
    out.push_str(&format!("{STRONG}designs{STRONG:#}\n"));
    for design in list(said, "designs") {
        let name = text(design, "design").unwrap_or_default();
        let hash = text(design, "hash").unwrap_or_default();
        let epoch = design["epoch"].as_u64().map_or(String::new(), |it| format!("epoch {it}, "));
        let count = design["servers"].as_u64().unwrap_or_default();
        let by = if count == 1 { "1 server".into() } else { format!("{count} servers") };
        out.push_str(&format!("  {name}  {epoch}text {hash}, served by {by}\n"));
    }
    if said["shared"] != true {
        out.push_str("the store is of this one process: no other server can share it\n");
    }
    if said["more"] == true {
        out.push_str("there is more in the store than was looked at: counts are too low\n");
    }
    out
}

fn server_lines(out: &mut String, server: &Value, shared: bool) {
    let id = text(server, "id").unwrap_or_default();
    let name = text(server, "address").unwrap_or_else(|| "address not known".into());
    let state = text(server, "state").unwrap_or_default();
    let style = match &*state {
        "serving" => GOOD,
        "gone" | "wrong-clock" => ERROR,
        _ => ODD,
    };
    let this = if server["this"] == true { ", which was asked" } else { "" };
    out.push_str(&format!("{STRONG}{name}{STRONG:#}  {style}{state}{style:#}{this}\n"));
    let host = text(server, "host").map_or(String::new(), |host| format!(" on {host}"));
    let version = text(server, "version").unwrap_or_else(|| "version not told".into());
    out.push_str(&format!("  {id}{host}, {version}"));
    if let Some(since) = text(server, "since") {
        out.push_str(&format!(", since {since}"));
    }
    out.push('\n');
    if shared {
        let quiet = server["quiet_ms"].as_i64().unwrap_or_default();
        let (ahead, side) = match server["clock_ahead_ms"].as_i64().unwrap_or_default() {
            ahead if ahead < 0 => (-ahead, "behind"),
            ahead => (ahead, "ahead"),
        };
        let (seconds, tenths) = (quiet / 1_000, quiet % 1_000 / 100);
        out.push_str(&format!(
            "  last heard of {seconds}.{tenths} s ago; its clock is {ahead} ms {side}\n"
        ));
    }
    if let Some(trouble) = text(server, "trouble") {
        out.push_str(&format!("  {style}{trouble}{style:#}\n"));
    }
    for design in list(server, "designs") {
        out.push_str(&design_line(design, &state));
    }
}

fn design_line(design: &Value, of_server: &str) -> String {
    let mut line = format!("  {}", text(design, "design").unwrap_or_default());
    match (design["epoch"].as_u64(), design["current_epoch"].as_u64()) {
        (Some(epoch), Some(current)) if epoch != current => {
            line.push_str(&format!("  epoch {epoch}, the store is in {current}"));
        }
        (Some(epoch), _) => line.push_str(&format!("  epoch {epoch}")),
        (None, _) => {}
    }
    let state = text(design, "state").unwrap_or_default();
    if state != of_server {
        line.push_str(&format!("  {state}"));
    }
    let in_hand = design["in_hand"].as_u64().unwrap_or_default();
    let deliveries = if in_hand == 1 { "delivery" } else { "deliveries" };
    line.push_str(&format!("  {in_hand} {deliveries} in hand"));
    let follows: Vec<String> =
        list(design, "follows").iter().filter_map(Value::as_str).map(told).collect();
    if !follows.is_empty() {
        line.push_str(&format!(", follows the feed for {}", follows.join(", ")));
    }
    line + "\n"
}
