//! Rows within a distance, beside Redis: the same records, but for what lies within a metre of the edge.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use runtime::ViewQuery;
use serde_json::json;

use crate::support::{Bench, ask, bench, compile, programs::program};

const DESIGN: &str = r#"
design Places
actor rider
subject Courier(courier: text) { truth Position { at: point? } }
step rider[move(courier: Courier, at: point)] { Position.at := at }
view Near(here: point) = near Courier on at from here
"#;

const COURIERS: usize = 4_000;
const QUESTIONS: usize = 250;
/// The earth of each, in metres: the same angle is another length.
const OURS_M: f64 = 6_371_008.8;
const REDIS_M: f64 = 6_372_797.560_856;
/// Redis keeps no place that is nearer to a pole.
const NORTHMOST: f64 = 85.05;

struct Redis {
    child: Child,
    stream: BufReader<TcpStream>,
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Redis {
    fn start() -> Redis {
        let redis = program("redis-server", &["/usr/bin"], "redis-server");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(redis);
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1"]);
        command.args(["--save", "", "--appendonly", "no"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let begun = Instant::now();
        loop {
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                return Redis { child, stream: BufReader::new(stream) };
            }
            if begun.elapsed() > Duration::from_secs(30) || child.try_wait().unwrap().is_some() {
                let _ = child.kill();
                panic!("redis-server does not answer on port {port}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// One command; the texts of its answer.
    fn ask(&mut self, command: &str) -> Vec<String> {
        self.stream.get_mut().write_all(format!("{command}\r\n").as_bytes()).unwrap();
        let mut line = || {
            let mut text = String::new();
            self.stream.read_line(&mut text).unwrap();
            text.trim_end().to_string()
        };
        let head = line();
        match head.split_at(1) {
            ("*", count) => {
                let count: usize = count.parse().unwrap();
                let mut found = Vec::with_capacity(count);
                for _ in 0..count {
                    let mut size = String::new();
                    self.stream.read_line(&mut size).unwrap();
                    let size: usize = size.trim_end()[1..].parse().unwrap();
                    let mut bytes = vec![0; size + 2];
                    self.stream.read_exact(&mut bytes).unwrap();
                    found.push(String::from_utf8(bytes[..size].to_vec()).unwrap());
                }
                found
            }
            (":" | "+", told) => vec![told.to_string()],
            _ => panic!("{command}: {head}"),
        }
    }
}

struct Chance(u64);

impl Chance {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Anywhere, in one town, or on either side of the date line.
    fn place(&mut self, at: usize) -> (f64, f64) {
        let (east, north) = match at % 3 {
            0 => (self.unit() * 360.0 - 180.0, (self.unit() * 2.0 - 1.0) * NORTHMOST),
            1 => (8.4 + self.unit() / 5.0, 47.3 + self.unit() / 5.0),
            _ => (((self.unit() + 179.5) + 180.0) % 360.0 - 180.0, self.unit() - 0.5),
        };
        // as many digits as both are told
        let told = |degrees: f64| format!("{degrees:.7}").parse().unwrap();
        (told(east), told(north))
    }
}

/// By a formula that neither of them is made of.
fn metres(a: (f64, f64), b: (f64, f64)) -> f64 {
    let (a_north, b_north) = (a.1.to_radians(), b.1.to_radians());
    let east = (b.0 - a.0).to_radians();
    let across = b_north.cos() * east.sin();
    let along = a_north.cos() * b_north.sin() - a_north.sin() * b_north.cos() * east.cos();
    let down = a_north.sin() * b_north.sin() + a_north.cos() * b_north.cos() * east.cos();
    across.hypot(along).atan2(down) * OURS_M
}

/// Every row within a distance, page by page, with what each says of its distance.
fn ours(bench: &Bench, here: (f64, f64), within_m: f64) -> BTreeMap<String, f64> {
    let mut query = ViewQuery { view: "Near".into(), limit: Some(1_000), ..ViewQuery::default() };
    query.params.insert("here".into(), json!([here.0, here.1]));
    query.params.insert("within".into(), json!(format!("{within_m}m")));
    let mut found = BTreeMap::new();
    loop {
        let page = bench.runtime.view(&query).unwrap();
        for row in page["rows"].as_array().unwrap() {
            let far = row["distance_m"].as_f64().unwrap();
            found.insert(row["key"][0].as_str().unwrap().to_string(), far);
        }
        match page["next"].as_str() {
            Some(next) => query.after = Some(next.into()),
            None => return found,
        }
    }
}

#[test]
fn the_same_records_are_found_within_a_distance() {
    let bench = bench(compile("places", DESIGN));
    let mut redis = Redis::start();
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    let mut places: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for at in 0..COURIERS {
        // some of them move
        let (name, place) = (format!("c{}", at % (COURIERS * 3 / 4)), chance.place(at));
        let moved = ask("rider", "move", "ann").with("courier", &*name);
        bench.call(moved.with("at", json!([place.0, place.1]))).unwrap();
        redis.ask(&format!("GEOADD couriers {} {} {name}", place.0, place.1));
        places.insert(name, place);
    }
    let (mut compared, mut at_the_edge) = (0, 0);
    for at in 0..QUESTIONS {
        let here = chance.place(at);
        // from ten metres to half the way round, each size as often
        let within_m = 10_f64.powf(1.0 + chance.unit() * 6.3);
        let mine = ours(&bench, here, within_m);
        let theirs: BTreeSet<String> = redis
            .ask(&format!(
                "GEOSEARCH couriers FROMLONLAT {} {} BYRADIUS {} m",
                here.0,
                here.1,
                within_m * (REDIS_M / OURS_M)
            ))
            .into_iter()
            .collect();
        compared += theirs.len();
        for (name, far) in &mine {
            let really = metres(here, places[name]);
            assert!((far - really).abs() < 0.01, "{name} from {here:?}: {far}, not {really}");
        }
        let own: BTreeSet<String> = mine.keys().cloned().collect();
        for name in own.symmetric_difference(&theirs) {
            at_the_edge += 1;
            let far = metres(here, places[name]);
            assert!(
                (far - within_m).abs() < 1.0,
                "{name} at {:?} is {far} m from {here:?}: within {within_m} m for one of both alone",
                places[name]
            );
        }
    }
    println!(
        "{QUESTIONS} questions, {compared} hits, {at_the_edge} within a metre of the edge differ"
    );
    assert!(compared > 10_000, "only {compared} hits");
}
