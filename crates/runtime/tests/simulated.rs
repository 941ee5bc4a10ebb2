//! A runtime and its workers in surroundings that a seed decides: hours pass at once, and the same seed gives the same
//! history and the same files.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use runtime::{Delivered, Delivery, Outside, Runtime, Settings, Workers};
use serde_json::{Value, json};
use store::{Hash, Seeded, SimulatedSurroundings, Surroundings};
use store_embedded::disk::SimulatedDisk;
use store_embedded::{Embedded, Options};

use crate::support::{ask, design};

/// A bank that often does not answer, and never says no.
struct Bank(Mutex<Seeded>);

impl Outside for Bank {
    fn deliver(&self, _: &Delivery) -> Delivered {
        match self.0.lock().unwrap().percent(40) {
            true => Delivered::Unknown { trouble: "no answer".into(), retry_after_ms: None },
            false => Delivered::Ok(Value::Null),
        }
    }
}

struct World {
    surroundings: Arc<dyn Surroundings>,
    shop: Arc<Runtime>,
    till: Arc<Runtime>,
}

impl World {
    fn status(&self, runtime: &Runtime, subject: &str, key: &str, state: &str) -> String {
        let truth = self.surroundings.block_on(runtime.get(subject, &[json!(key)]));
        let truth = truth.unwrap().unwrap().truth;
        truth[state]["status"].as_str().unwrap_or_default().to_string()
    }

    /// A seat is held and a payment begun; both are left to the workers, or the seat is sold.
    fn live(&self, seeded: &mut Seeded, n: u64) -> bool {
        let (seat, charge) = (format!("s{n}"), format!("c{n}"));
        let add = ask("organizer", "add_seat", "olga").with("seat", seat.as_str());
        self.shop.call(&add.with("section", "A")).unwrap();
        let hold = ask("buyer", "hold", "ann").with("seat", seat.as_str());
        self.shop.call(&hold.with("booking", seat.as_str())).unwrap();
        let create = ask("merchant", "create_intent", "shop").with("intent", charge.as_str());
        self.till.call(&create.with("currency", "EUR").with("amount", "1")).unwrap();
        let pay = ask("merchant", "pay", "shop").with("intent", charge.as_str());
        self.till.call(&pay.with("charge", charge.as_str())).unwrap();
        self.surroundings.rest(Duration::from_millis(seeded.below(120_000)));
        let sold = seeded.percent(50);
        if sold {
            self.shop.call(&ask("buyer", "confirm", "ann").with("booking", seat)).unwrap();
        }
        sold
    }
}

/// What both designs fed, and the disk at the end.
fn world(seed: u64) -> (String, Hash) {
    let surroundings: Arc<dyn Surroundings> = Arc::new(SimulatedSurroundings::new(seed));
    let disk = SimulatedDisk::new();
    let options = Options {
        commit_bytes_max: 256 << 10,
        surroundings: Arc::clone(&surroundings),
        ..Options::small()
    };
    let store = Embedded::open_on(Arc::new(disk.clone()), "store", options).unwrap();
    let store: Arc<dyn store::Store> = Arc::new(store);
    let settings = Settings { surroundings: Arc::clone(&surroundings), ..Settings::default() };
    let open =
        |name| Arc::new(Runtime::open(design(name), Arc::clone(&store), settings.clone()).unwrap());
    let (shop, till) = (open("systems/tickets"), open("systems/payments"));
    let world = World { surroundings, shop, till };
    let bank = Arc::new(Bank(Mutex::new(Seeded::new(seed))));
    let workers = [&world.shop, &world.till]
        .map(|runtime| Workers::start(runtime, bank.clone(), 2).expect("they start"));
    let mut seeded = Seeded::new(!seed);
    let sold: Vec<bool> = (0..6).map(|n| world.live(&mut seeded, n)).collect();
    world.surroundings.rest(Duration::from_secs(3 * 3_600));
    for (n, sold) in sold.into_iter().enumerate() {
        let seat = world.status(&world.shop, "Seat", &format!("s{n}"), "SeatInventoryState");
        assert_eq!(seat, if sold { "SOLD" } else { "AVAILABLE" }, "seed {seed}");
        let charge = world.status(&world.till, "Charge", &format!("c{n}"), "TransactionState");
        assert_eq!(charge, "AUTHORIZED", "seed {seed}");
    }
    drop(workers);
    let fed = [&world.shop, &world.till]
        .map(|runtime| world.surroundings.block_on(runtime.feed(None, 1_000)).unwrap().0);
    let fed = format!("{fed:?}");
    let surroundings = Arc::clone(&world.surroundings);
    drop(world);
    surroundings.block_on(store.close()).unwrap();
    (fed, disk.digest())
}

#[test]
fn one_seed_gives_one_history_and_the_workers_do_what_is_due() {
    let mut histories = Vec::new();
    for seed in 0..20 {
        let (first, second) = (world(seed), world(seed));
        assert_eq!(first, second, "seed {seed}");
        histories.push(first);
    }
    histories.sort();
    histories.dedup();
    assert_eq!(histories.len(), 20, "two seeds gave one history");
}
