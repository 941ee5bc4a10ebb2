//! `leads_to`: what is told of it, and what it may cost. What it means is in `verdicts/`, and held against the
//! naive interpreter.

use crate::support::text::{compiled, report};
use model_checker::{Options, Report, Verdict, check, render};

/// As in a terminal, up to the times that were taken.
fn told(report: &Report) -> String {
    let text = render::text("it", report, render::Traces::All, render::Paint::Plain);
    let lines =
        text.lines().filter(|line| !line.contains("  as written ") && !line.contains("all in all"));
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn a_verdict_says_what_it_takes_for_granted() {
    let report = report(include_str!("verdicts/workshop.design"));
    let told = told(&report);
    assert!(told.starts_with(WORKSHOP), "{told}");
    // It began to wait long before the cycle.
    let since = "this goes on for ever, and job-1 waits since step 1: `done` is not kept";
    assert!(told.contains(since), "{told}");
    let golden = render::golden(&report);
    assert!(golden.contains("goal done: proved; 8 states\n"), "{golden}");
    let json = render::json(&report);
    assert_eq!(json["goals"][0]["kind"], "leads_to");
    let fairness = json["world"]["fairness_of_leads_to"].as_array().unwrap();
    assert_eq!(fairness.len(), 4, "{fairness:?}");
}

const WORKSHOP: &str = "\
it: proved (1 goal proved, 2 failures load-bearing, 3 free clauses)
  world     job: 1, customer: 1, worker: 1, foreman: 1
  faults    none
  leads_to  clients go on or stop as they like; each fault strikes finitely often
            what stays possible from some moment on happens; what is possible only now and then is not owed
            each repair that stays due on a record that was changed runs eventually
            for done: each call of take, finish, by the same caller with the same arguments, that stays possible is made eventually

  goals
    done  proved 8 states

  failures
    \"stranded\"  load-bearing  3 steps
                without repair wake breaks done
    \"stranded\"  load-bearing  7 steps, the last 3 for ever
                without faint.once breaks done
";

#[test]
fn a_trace_says_who_waits_since_when() {
    let report = report(include_str!("verdicts/barber-wrong.design"));
    let told = told(&report);
    assert!(told.ends_with(BARBER), "{told}");
}

const BARBER: &str = "\
served is violated: 5 steps, the last 3 for ever
   1. customer-1 calls ask(chair-1, guest-2)
      chair-1: next null → guest-2
      guest-2: waits false → true
   2. customer-1 calls ask(chair-1, guest-1)
      chair-1: next guest-2 → guest-1
      guest-1: waits false → true
      from here on, for ever:
   3. barber-1 calls seat(chair-1, guest-2)
      chair-1: taken false → true, next guest-1 → null
      guest-2: waits true → false
   4. customer-1 calls ask(chair-1, guest-2)
      chair-1: next null → guest-2
      guest-2: waits false → true
   5. barber-1 calls finish(chair-1)
      chair-1: taken true → false
      and again from step 3 on
      so: this goes on for ever, and guest-1 waits since step 2: `served` is not kept
";

#[test]
fn what_waits_beyond_the_memory_budget_is_unknown() {
    let design = compiled(
        "design D
         actor a
         subject S(s: text) { truth T { n: int = 0, m: int = 0 } }
         step a[up(s: S) { room: T.n < 60 }] { T.n += 1 }
         step a[over(s: S) { room: T.m < 60 }] { T.m += 1 }
         leads_to full: all s in S: s.n < 60 => s.n = 60 by up
         check { s: 1  T.n: 0..60  T.m: 0..60 }",
    );
    let verdict = |max_memory| {
        let options = Options { max_memory, slices: false, ..Options::default() };
        let report = check(&design, &options, &mut |_| {}).unwrap();
        report.goals[0].verdict.clone()
    };
    assert!(matches!(verdict(1 << 30), Verdict::Proved));
    let whole = Options { slices: false, ..Options::default() };
    // between too little for the states and enough for all lies what is too little for the graph
    let base = check(&design, &whole, &mut |_| {}).unwrap().base.bytes as usize;
    let said: Vec<String> = (0..40)
        .map(|more| match verdict(base + more * 49_152) {
            Verdict::Unknown(why) => why,
            other => format!("{other:?}"),
        })
        .collect();
    assert!(said.iter().any(|why| why.contains("graph of what waits")), "{said:?}");
    assert_eq!(said.last().map(String::as_str), Some("Proved"));
}
