//! Digests, signatures and proofs: what the checker makes of them symbolically, and what they are at
//! run time, must agree. Each generated case is one design; the checker says whether its last step can
//! ever be accepted, and a runtime with real keys tries it in every way there is.

use std::sync::{Arc, Mutex};

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use engine::HashPart;
use runtime::{
    CallError, Delivered, Delivery, ManualClock, Outside, Request, Runtime, Settings, Worked,
    proofs,
};
use serde_json::{Value, json};

/// Small and repeatable.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn pick<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len() as u64) as usize]
    }
}

fn compile(text: &str) -> design::model::Design {
    let compiled = design::compile("case", text, &design::NoCatalog);
    compiled.design.unwrap_or_else(|| panic!("{:?}\n{text}", compiled.diagnostics))
}

/// Does the checker see this happen?
fn happens(text: &str, what: &str) -> bool {
    let options = model_checker::Options { threads: 1, ..model_checker::Options::default() };
    let report = model_checker::check(&compile(text), &options, &mut |_| {}).expect("it is finite");
    !report.unwitnessed.iter().any(|unseen| unseen == what)
}

/// The keys, and what was signed with them, as nobody but their holder could.
struct Keystore {
    keys: Vec<Ed25519KeyPair>,
    made: Mutex<Vec<String>>,
    /// answers with a signature of something else
    lies: bool,
}

impl Keystore {
    fn new(keys: u8) -> Keystore {
        let pair = |seed| Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).expect("32 bytes");
        Keystore { keys: (1..=keys).map(pair).collect(), made: Mutex::default(), lies: false }
    }

    fn public(&self, at: usize) -> String {
        hex(self.keys[at].public_key().as_ref())
    }
}

impl Outside for Keystore {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        let field = |name: &str| delivery.body[name].as_str().unwrap_or_default().to_owned();
        let (digest, key) = (field("digest"), field("public_key"));
        let Some(at) = (0..self.keys.len()).find(|at| self.public(*at) == key) else {
            return Delivered::Refused(json!({ "no": "key" }));
        };
        let digest = proofs::bytes_of::<32>(digest.as_bytes()).expect("a digest");
        let message = if self.lies { [0; 32] } else { digest };
        let signature = hex(self.keys[at].sign(&message).as_ref());
        self.made.lock().unwrap().push(signature.clone());
        Delivered::Ok(json!({ "signature": signature }))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn open(text: &str) -> Runtime {
    let store = Arc::new(store::Memory::new());
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    Runtime::open_with_clock(compile(text), store, Settings::default(), clock).unwrap()
}

fn deliver_all(runtime: &Runtime, keystore: &Keystore) {
    while runtime.deliver_one(keystore).unwrap() == Worked::Tried {}
}

fn accepted(runtime: &Runtime, request: &Request) -> bool {
    match runtime.call(request) {
        Ok(_) => true,
        Err(CallError::Refused(_)) => false,
        Err(other) => panic!("{other}"),
    }
}

/// Two notes are signed, each by the key it names. Then `accept` is tried.
fn note(signed: &str, shown: &str, key: &str, given: &str, relation: &str) -> String {
    format!(
        r#"
design Case
actor author
actor reader
actor keystore
subject Note(note: text) {{
    truth NoteState {{ key: public_key?, signature: signature?, accepted: bool = false }}
}}
step author[write(note: Note, key: public_key) {{ blank: NoteState.key absent }}] {{
    NoteState.key := key
    send keystore.sign_note(note)
}}
effect keystore[sign_note(note: Note)] {{
    call POST "{{keystore.url}}/sign" key note
    sign hash({signed}) by NoteState.key
    on ok(signature: signature) {{ NoteState.signature := signature }}
    on refused {{}}
    on unknown {{}}
}}
step reader[accept(note: Note, other: Note, signature: signature) {{
    related: {relation}
    both: note.signature present and other.signature present
    genuine: verified({given}, by {key}, over hash({shown}))
}}] {{ note.accepted := true }}
check {{ note: 2  key: 2  unknowns: 0 }}
"#
    )
}

/// Is any way to call `accept` accepted, with two notes by one key or by two? A note may be called what the design signs.
fn any_accepted(text: &str) -> bool {
    let ways = [["a", "b"], ["1", "b"]].map(|names| [[0, 0], [0, 1]].map(|keys| (names, keys)));
    ways.into_iter().flatten().any(|(names, keys)| any_accepted_of(text, names, keys))
}

fn any_accepted_of(text: &str, names: [&str; 2], keys: [usize; 2]) -> bool {
    let forged = "00".repeat(64);
    let (runtime, keystore) = (open(text), Keystore::new(2));
    for (note, key) in names.into_iter().zip(keys) {
        let write = Request::new("author", "write", "ann").with("note", note);
        assert!(accepted(&runtime, &write.with("key", keystore.public(key).as_str())));
    }
    deliver_all(&runtime, &keystore);
    let mut shown = keystore.made.lock().unwrap().clone();
    shown.push(forged.clone());
    let [one, two] = names;
    [(one, one), (one, two), (two, one), (two, two)].into_iter().any(|(note, other)| {
        shown.iter().any(|signature| {
            let call = Request::new("reader", "accept", "ron").with("note", note);
            let call = call.with("other", other).with("signature", signature.as_str());
            accepted(&runtime, &call)
        })
    })
}

#[test]
fn the_checker_and_the_runtime_accept_the_same_signatures() {
    let mut random = Random(7);
    let values = ["1", "2", "\"1\"", "true", "note", "NoteState.key", "10s"];
    let mut outcomes = [0, 0];
    for _ in 0..160 {
        let list = |random: &mut Random| {
            let len = 1 + random.below(2);
            (0..len).map(|_| random.pick(&values).to_owned()).collect::<Vec<_>>()
        };
        let signed = list(&mut random);
        let mut shown = signed.clone();
        match random.below(4) {
            0 => {}
            1 => shown.reverse(),
            2 => shown[0] = random.pick(&values).to_owned(),
            _ => shown = list(&mut random),
        }
        let qualified = |value: &String| match value.as_str() {
            "NoteState.key" => "note.key".to_owned(),
            other => other.to_owned(),
        };
        let shown: Vec<String> = shown.iter().map(qualified).collect();
        let key = random.pick(&["note.key", "other.key"]);
        let given = random.pick(&["signature", "note.signature", "other.signature"]);
        let relation = random.pick(&[
            "note = other",
            "note != other",
            "note.key = other.key",
            "note.key != other.key",
            "note != other and note.key = other.key",
        ]);
        let text = note(&signed.join(", "), &shown.join(", "), key, given, relation);
        let symbolic = happens(&text, "reader[accept] accepted");
        assert_eq!(symbolic, any_accepted(&text), "{text}");
        outcomes[usize::from(symbolic)] += 1;
    }
    assert!(outcomes.iter().all(|count| *count > 30), "{outcomes:?}: one side is hardly tried");
}

#[test]
fn a_forgery_is_refused_by_both() {
    // what is shown was never signed, whoever's key and whichever signature is tried
    let text = note("note, 1", "note, 2", "note.key", "signature", "note != other");
    assert!(!happens(&text, "reader[accept] accepted"));
    assert!(!any_accepted(&text));
    // signed for one note and shown for another, by the same key
    let text = note("note, 1", "note, 1", "note.key", "other.signature", "note != other");
    assert!(!happens(&text, "reader[accept] accepted"));
    assert!(!any_accepted(&text));
    // and the same, genuine
    let text = note("note, 1", "note, 1", "note.key", "signature", "note = other");
    assert!(happens(&text, "reader[accept] accepted"));
    assert!(any_accepted(&text));
}

#[test]
fn a_keystore_that_signs_something_else_is_not_believed() {
    let text = note("note", "note", "note.key", "signature", "note = other");
    let (runtime, mut keystore) = (open(&text), Keystore::new(1));
    keystore.lies = true;
    let write = Request::new("author", "write", "ann").with("note", "a");
    assert!(accepted(&runtime, &write.with("key", keystore.public(0).as_str())));
    deliver_all(&runtime, &keystore);
    let truth = store::block_on(runtime.get("Note", &[json!("a")])).unwrap().unwrap().truth;
    assert_eq!(truth["NoteState"]["signature"], Value::Null);
}

/// A tree of digests, and every proof that leads through it.
struct Tree {
    text: String,
    digest: String,
    /// the digest of each node below, and the way up from it
    below: Vec<(String, String)>,
}

fn leaf(value: i64) -> Tree {
    let digest = proofs::hash(&[HashPart::Int], &[value], &|_| &[]).to_hex().to_string();
    let below = vec![(digest.clone(), String::new())];
    Tree { text: format!("hash({value})"), digest, below }
}

fn pair(left: &Tree, right: &Tree) -> Tree {
    let both = [left.digest.as_bytes(), right.digest.as_bytes()];
    let parts = [HashPart::Digest, HashPart::Digest];
    let digest = proofs::hash(&parts, &[0, 1], &|word| both[word as usize]).to_hex().to_string();
    let mut below = vec![(digest.clone(), String::new())];
    for (from, step) in [(left, format!("r{}", right.digest)), (right, format!("l{}", left.digest))]
    {
        below.extend(from.below.iter().map(|(node, way)| {
            let way = if way.is_empty() { step.clone() } else { format!("{way}.{step}") };
            (node.clone(), way)
        }));
    }
    Tree { text: format!("hash({}, {})", left.text, right.text), digest, below }
}

fn any_tree(random: &mut Random, depth: u32) -> Tree {
    if depth == 0 || random.below(4) == 0 {
        return leaf(random.below(3) as i64);
    }
    pair(&any_tree(random, depth - 1), &any_tree(random, depth - 1))
}

#[test]
fn the_checker_and_the_runtime_accept_the_same_inclusions() {
    let mut random = Random(11);
    let mut outcomes = [0, 0];
    for _ in 0..120 {
        let tree = any_tree(&mut random, 3);
        let sought = any_tree(&mut random, 1);
        let text = format!(
            "design Case\nactor reader\nsubject Note(note: text) {{ truth NoteState {{ n: int = 0 }} }}\n\
             step reader[show(note: Note, proof: proof) {{ \
                there: included({}, in {}, by proof) }}] {{ NoteState.n := 1 }}\n\
             check {{ note: 1 }}\n",
            sought.text, tree.text
        );
        let symbolic = happens(&text, "reader[show] accepted");
        let runtime = open(&text);
        let mut tried: Vec<String> = tree.below.iter().map(|(_, way)| way.clone()).collect();
        // what leads elsewhere, is cut off, or is no proof at all
        tried.extend(tree.below.iter().map(|(_, way)| way.replace('l', "r")));
        tried.extend(tree.below.iter().filter_map(|(_, way)| Some(way.rsplit_once('.')?.0.into())));
        tried.extend(["x".into(), ".".into(), "l00".into()]);
        let real = tried.iter().any(|proof| {
            let call = Request::new("reader", "show", "ron").with("note", "a");
            accepted(&runtime, &call.with("proof", proof.as_str()))
        });
        assert_eq!(symbolic, real, "{text}");
        outcomes[usize::from(symbolic)] += 1;
    }
    assert!(outcomes.iter().all(|count| *count > 20), "{outcomes:?}: one side is hardly tried");
}

/// The digest is part of the contract with whoever signs: it never changes.
#[test]
fn a_digest_is_the_same_for_ever() {
    let parts = [HashPart::Text, HashPart::Int, HashPart::Enum(vec!["A".into(), "B".into()])];
    let digest = proofs::hash(&parts, &[0, -1, 1], &|_| "note".as_bytes());
    assert_eq!(
        digest.to_hex().as_str(),
        "d2ac42492d143370182c837a8ed51cc0537aa0537c3237f33f3d8ce9822842af"
    );
}
