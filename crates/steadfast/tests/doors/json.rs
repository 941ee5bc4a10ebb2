//! JSON that is nearly right.

use store::Seeded;

pub fn one<'a>(seeded: &mut Seeded, of: &[&'a str]) -> &'a str {
    of[seeded.below(of.len() as u64) as usize]
}

/// Steps of the designs that are served, with their parameters: `name:kind`.
const STEPS: [(&str, &str, &str, &[&str]); 11] = [
    ("tickets", "organizer", "add_seat", &["seat:seat", "section:text"]),
    ("tickets", "buyer", "hold", &["seat:seat", "booking:booking", "ttl:duration"]),
    ("tickets", "buyer", "confirm", &["booking:booking"]),
    ("i14", "publisher", "upload_blob", &["blob:pair", "digest:digest"]),
    ("i14", "publisher", "create_manifest", &["manifest:pair", "blob:pair", "id:digest"]),
    ("i14", "downloader", "download", &["namespace:text", "edge:pair"]),
    ("i05", "producer", "append", &["partition:text", "id:text", "record:text"]),
    ("i05", "consumer", "poll", &["partition:text", "offset:int"]),
    ("tickets", "sweeper", "release", &["seat:seat"]),
    ("tickets", "nobody", "hold", &["seat:seat"]),
    ("nothing", "buyer", "hold", &["seat:seat"]),
];

/// A step: design, actor, operation, and its body.
pub fn step(seeded: &mut Seeded) -> (&'static str, &'static str, &'static str, String) {
    let (design, actor, operation, params) = STEPS[seeded.below(STEPS.len() as u64) as usize];
    (design, actor, operation, object(seeded, params))
}

pub fn object(seeded: &mut Seeded, params: &[&str]) -> String {
    let mut text = String::from("{");
    for (at, param) in params.iter().enumerate() {
        if seeded.percent(4) {
            continue;
        }
        let (name, kind) = param.split_once(':').unwrap_or((param, "text"));
        if at > 0 {
            text.push(',');
        }
        let name = if seeded.percent(97) {
            name
        } else {
            one(seeded, &["", "Seat", "seat\\u0000", "my_epoch"])
        };
        text.push_str(&format!("\"{name}\":{}", value(seeded, kind)));
    }
    if seeded.percent(3) {
        let odd = wrong(seeded);
        text.push_str(&format!(",\"more\":{odd}"));
    }
    text.push('}');
    text
}

fn value(seeded: &mut Seeded, kind: &str) -> String {
    if seeded.percent(15) {
        return wrong(seeded);
    }
    let number = seeded.below(50);
    match kind {
        "seat" => format!("\"S{number}\""),
        "booking" => format!("\"b{}\"", seeded.below(5_000)),
        "duration" => {
            one(seeded, &["\"10m\"", "\"1s\"", "600000", "\"0s\"", "\"99999999h\""]).into()
        }
        "pair" => format!("[\"n{}\",\"x{number}\"]", seeded.below(4)),
        "digest" => format!("\"{}\"", one(seeded, &["00", "af"]).repeat(32)),
        "int" => number.to_string(),
        _ => format!("\"t{number}\""),
    }
}

/// A value that hardly anything takes.
pub fn wrong(seeded: &mut Seeded) -> String {
    match seeded.below(16) {
        0 => "null".into(),
        1 => "true".into(),
        2 => "-9223372036854775809".into(),
        3 => "1e999".into(),
        4 => "0.1".into(),
        5 => "[]".into(),
        6 => "{}".into(),
        7 => "\"\"".into(),
        8 => "\"\\ud83d\"".into(),
        9 => format!("\"{}\"", "x".repeat(seeded.below(3_000) as usize)),
        10 => format!("{}{}", "[".repeat(300), "]".repeat(seeded.below(301) as usize)),
        11 => format!("{}1{}", "{\"a\":".repeat(150), "}".repeat(150)),
        12 => "\"\\u0000\\u001f/..%2e\"".into(),
        13 => seeded.number().to_string(),
        14 => format!("\"{}\"", seeded.number() as i64),
        _ => "\"\u{202e}\u{1f600}\u{fffd}\"".into(),
    }
}
