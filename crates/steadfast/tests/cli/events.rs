//! Designs of one server that hear each other: served, killed, replaced, checked together.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::cli::serving::Server;
use crate::cli::support::{folder, run_in};

const SALES: &str = r#"design Sales "What is sold"

actor clerk

subject Sale(sale: text) {
    truth SaleState { done: bool = false }
}

step clerk[sell(sale: Sale) { open: not SaleState.done }] {
    SaleState.done := true
    emit Sold { sale: sale }
}

invariant stays_done: all s in Sale: s.done or not old(s.done)

check { sale: 1 }
"#;

const BILLS: &str = r#"design Bills "What was sold is billed once"

actor payer

subject Bill(sale: text) {
    truth BillState { paid: bool = false, times: int = 0 }
}

on Sales.Sold(sale: Bill) { once: BillState.times = 0 } { BillState.times += 1 }

step payer[pay(bill: Bill) { due: BillState.times > 0 and not BillState.paid }] {
    BillState.paid := true
}

invariant billed_once: all b in Bill: b.times <= 1

failure "billed twice" { without on_sales_sold.once breaks billed_once }

check { sale: 1  BillState.times: 0..2 }
"#;

fn designs(folder: &Path) {
    fs::write(folder.join("sales.design"), SALES).unwrap();
    fs::write(folder.join("bills.design"), BILLS).unwrap();
}

/// However long a busy machine takes to get there.
fn becomes_billed(server: &Server, sale: &str) {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let found = server.run(&["get", "bills", "Bill", sale, "--json"]);
        if found.out.contains("\"times\": 1") || found.out.contains("\"times\":1") {
            return;
        }
        assert!(Instant::now() < deadline, "{sale}: {} {}", found.out, found.err);
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn sell(server: &Server, sale: &str) {
    let word = format!("sale={sale}");
    server.run(&["call", "sales", "clerk", "sell", &word]).exits(0);
}

#[test]
fn one_design_hears_another_across_kills() {
    let folder = folder("events-served");
    designs(&folder);
    let both = ["sales.design", "bills.design"];
    let server = Server::start(&folder, &both);
    sell(&server, "s1");
    becomes_billed(&server, "s1");
    // only the event calls it
    let call = ["call", "bills", "event", "on_sales_sold", "sale=s9"];
    let refused = server.run(&call);
    assert_ne!(refused.code, 0, "{}", refused.out);
    let told = "the server calls it for each event `Sales.Sold` that was emitted";
    assert!(refused.err.contains(told), "{}", refused.err);
    for round in 0..3 {
        let sale = format!("k{round}");
        sell(&server, &sale);
    }
    server.kill();
    // while nobody serves the design that hears, its events wait
    let alone = Server::start(&folder, &["sales.design"]);
    sell(&alone, "s2");
    alone.kill();
    let server = Server::start(&folder, &both);
    for sale in ["k0", "k1", "k2", "s2"] {
        becomes_billed(&server, sale);
    }
}

#[test]
fn designs_that_do_not_agree_on_an_event_are_not_served_and_not_replaced() {
    let folder = folder("events-misheard");
    designs(&folder);
    let other = BILLS.replace("(sale: Bill)", "(sold: Bill)");
    fs::write(folder.join("other.design"), other).unwrap();
    let words = ["serve", "sales.design", "other.design", "--store", "memory:"];
    run_in(&folder, &words).exits(2).says("`Sales.Sold` has no field `sold` [E0902]");
    let server = Server::start(&folder, &["sales.design", "bills.design"]);
    let replaced = server.run(&["replace", "bills", "other.design"]);
    assert_ne!(replaced.code, 0, "{}", replaced.out);
    assert!(replaced.err.contains("E0902") || replaced.out.contains("E0902"), "{}", replaced.err);
    // the one that emits, without the event
    let silent = SALES.replace("    emit Sold { sale: sale }\n", "");
    fs::write(folder.join("silent.design"), silent).unwrap();
    let replaced = server.run(&["replace", "sales", "silent.design"]);
    assert_ne!(replaced.code, 0, "{}", replaced.out);
    assert!(replaced.err.contains("E0901") || replaced.out.contains("E0901"), "{}", replaced.err);
    sell(&server, "s1");
    becomes_billed(&server, "s1");
}

#[test]
fn designs_are_checked_together() {
    let folder = folder("events-together");
    designs(&folder);
    let words = ["check", "sales.design", "bills.design", "--together", "--traces"];
    run_in(&folder, &words)
        .exits(0)
        .says("bills.billed_once")
        .says("sales.stays_done")
        .says("on_sales_sold")
        .says("it comes again");
    // without the guard an event that comes again is billed twice
    let careless = BILLS.replace(" { once: BillState.times = 0 }", "");
    let careless = careless.replace(
        "failure \"billed twice\" { without on_sales_sold.once breaks billed_once }\n\n",
        "",
    );
    fs::write(folder.join("careless.design"), careless).unwrap();
    let words = ["check", "sales.design", "careless.design", "--together"];
    run_in(&folder, &words).exits(1).says("bills.billed_once");
    let other = BILLS.replace("(sale: Bill)", "(sold: Bill)");
    fs::write(folder.join("other.design"), other).unwrap();
    let words = ["check", "sales.design", "other.design", "--together"];
    run_in(&folder, &words).exits(2).says("E0902");
    // the drawing shows both
    let words = ["explain", "sales.design", "--together", "bills.design", "--format", "svg"];
    run_in(&folder, &words).exits(0).says("sell_sales").says("inbox on_sales_sold");
}
