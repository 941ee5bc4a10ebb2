//! What runs was checked: verdicts are kept, and decide what is served.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::cli::serving::{Running, Server};
use crate::cli::support::{Ran, SOUND, command, folder, run_in, verdicts};

/// Breaks its promise when a door is opened the second time.
fn violated() -> String {
    SOUND.replace("d.open = false or d.opened = 1", "d.open = false or d.opened = 0")
}

/// Holds within its bound: the third opening is cut.
fn bounded() -> String {
    let text = SOUND.replace("DoorState.opened := 1", "DoorState.opened += 1");
    let text = text.replace("d.open = false or d.opened = 1", "d.opened < 9");
    text.replace("keeper: 1 }", "keeper: 1  DoorState.opened: 0..3 }")
}

fn unchecked() -> String {
    SOUND
        .lines()
        .filter(|line| !line.starts_with("check"))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Another guard; the same layout.
fn stricter() -> String {
    SOUND.replace("shut: DoorState.open = false", "never: DoorState.open = DoorState.open")
}

fn folder_with(test: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
    let folder = folder(test);
    for (name, text) in files {
        fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

/// `serve` that is expected to end by itself; one that does not is killed.
#[track_caller]
fn refused(folder: &Path, words: &[&str]) -> Ran {
    let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--no-background-check"];
    if !words.contains(&"--store") {
        all.extend(["--store", "embedded:./data"]);
    }
    all.extend(words);
    let mut command = command(folder, &all);
    let (out, err) = (folder.join("out"), folder.join("err"));
    command.stdout(fs::File::create(&out).unwrap()).stderr(fs::File::create(&err).unwrap());
    let mut process = Running(command.spawn().unwrap());
    let until = Instant::now() + Duration::from_secs(60);
    while process.0.try_wait().unwrap().is_none() && Instant::now() < until {
        let served = fs::read_to_string(&out).is_ok_and(|out| out.contains("http://"));
        assert!(!served, "{words:?} is served");
        std::thread::sleep(Duration::from_millis(20));
    }
    let code = process.0.try_wait().unwrap().and_then(|status| status.code()).unwrap_or(-1);
    let read = |path| fs::read_to_string(path).unwrap();
    Ran { code, out: read(out), err: read(err) }
}

fn get(server: &Server, path: &str, accept: &str) -> (String, String) {
    let agent: ureq::Agent = ureq::Agent::config_builder().proxy(None).build().into();
    let url = format!("{}{path}", server.address);
    let mut answer = agent.get(&url).header("accept", accept).call().unwrap();
    let verdict = answer.headers().get("steadfast-verdict");
    let verdict = verdict.map_or_else(String::new, |value| value.to_str().unwrap().to_string());
    (verdict, answer.body_mut().read_to_string().unwrap())
}

fn metric(server: &Server, design: &str, word: &str) -> bool {
    let line = format!("steadfast_verdict{{design=\"{design}\",word=\"{word}\"}} 1");
    get(server, "/metrics", "*/*").1.lines().any(|its| its == line)
}

#[test]
fn what_is_violated_is_not_served_unless_one_says_so() {
    let folder = folder_with("verdicts-violated", &[("door.design", &violated())]);
    run_in(&folder, &["check", "door.design"]).exits(1);
    refused(&folder, &["door.design"])
        .exits(1)
        .says("`door` is not served: its verdict is `violated`")
        .says("help: `--unproved` serves it all the same");
    refused(&folder, &["door.design", "--require", "holds"]).exits(1).says("`violated`");
    refused(&folder, &["door.design", "--require", "holds", "--unproved"]).exits(2);
    let server = Server::start(&folder, &["door.design", "--unproved"]);
    assert!(server.said.contains("door: violated"), "{}", server.said);
    assert!(metric(&server, "door", "violated") && !metric(&server, "door", "proved"));
    assert_eq!(get(&server, "/v1/door", "*/*"), ("violated".into(), violated()));
    let told: serde_json::Value =
        serde_json::from_str(&get(&server, "/v1/door", "application/json").1).unwrap();
    assert_eq!(told["verdict"], serde_json::json!({ "word": "violated" }));
    assert!(get(&server, "/console/door", "text/html").1.contains("This design is violated."));
}

#[test]
fn what_was_not_checked_is_checked_beside_the_server_and_the_verdict_is_kept() {
    let folder = folder_with("verdicts-unchecked", &[("door.design", SOUND)]);
    let server = Server::start(&folder, &["door.design"]);
    assert!(server.said.contains("door: not checked"), "{}", server.said);
    assert!(metric(&server, "door", "not_checked"));
    assert!(get(&server, "/console/door", "text/html").1.contains("was not checked"));
    server.kill();
    let server = Server::start_plain(&folder, &["door.design"]);
    let until = Instant::now() + Duration::from_secs(60);
    while !metric(&server, "door", "proved") {
        assert!(Instant::now() < until, "it was not checked");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(get(&server, "/console/door", "text/html").1.contains("Proved"));
    // the store has it a moment later than the metrics
    std::thread::sleep(Duration::from_millis(500));
    server.kill();
    let known = |what: &str| {
        let server = Server::start(&folder, &["door.design"]);
        assert!(server.said.contains("door: proved"), "{what}: {}", server.said);
    };
    known("the folder knows it");
    fs::remove_dir_all(verdicts(&folder)).unwrap();
    known("the store knows it");
    // another text, if only by a comment, is another text
    fs::write(folder.join("door.design"), format!("{SOUND}// a comment\n")).unwrap();
    let server = Server::start(&folder, &["door.design"]);
    assert!(server.said.contains("door: not checked"), "{}", server.said);
}

#[test]
fn a_rule_asks_for_a_verdict_and_makes_it_where_there_is_none() {
    let files = [
        ("sound.design", SOUND.to_string()),
        ("bounded.design", bounded()),
        ("unchecked.design", unchecked()),
        ("violated.design", violated()),
    ];
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let folder = folder_with("verdicts-required", &files);
    let memory = |file: &'static str, require: &'static str| {
        [file, "--store", "memory:", "--require", require]
    };
    let server = Server::start(&folder, &memory("sound.design", "proved"));
    assert!(server.said.contains("sound: proved"), "{}", server.said);
    refused(&folder, &memory("bounded.design", "proved"))
        .exits(3)
        .says("its verdict is `holds within DoorState.opened")
        .says("`--require holds` serves");
    let server = Server::start(&folder, &memory("bounded.design", "holds"));
    assert!(server.said.contains("bounded: holds within DoorState.opened"), "{}", server.said);
    refused(&folder, &memory("unchecked.design", "holds"))
        .exits(3)
        .says("not known: there is no `check`");
    refused(&folder, &memory("violated.design", "holds")).exits(1).says("`violated`");
    // a verdict that was made because of the rule is kept
    refused(&folder, &["violated.design", "--store", "memory:"]).exits(1);
}

#[test]
fn a_verdict_of_another_checker_or_a_damaged_one_is_not_believed() {
    let folder = folder_with("verdicts-foreign", &[("door.design", &violated())]);
    run_in(&folder, &["check", "door.design"]).exits(1);
    let files: Vec<_> =
        fs::read_dir(verdicts(&folder)).unwrap().map(|it| it.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    let form = fs::read_to_string(file).unwrap();
    let another = with_another(&form, "\"checker\":", "\"checker\":9999");
    for (form, why) in [(another.as_str(), "another version of the checker"), ("{", "is not JSON")]
    {
        fs::write(file, form).unwrap();
        let mut command = command(&folder, &["serve", "door.design", "--store", "memory:"]);
        command.args(["--listen", "127.0.0.1:0", "--no-background-check"]);
        let err = folder.join("err");
        command.stdout(Stdio::null()).stderr(fs::File::create(&err).unwrap());
        let _server = Running(command.spawn().unwrap());
        let until = Instant::now() + Duration::from_secs(60);
        while !fs::read_to_string(&err).unwrap().contains(why) {
            assert!(Instant::now() < until, "{why}: {}", fs::read_to_string(&err).unwrap());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A field of JSON, from its name to the next comma, becomes something else.
fn with_another(text: &str, before: &str, instead: &str) -> String {
    let (head, tail) = text.split_once(before).unwrap();
    let (_, tail) = tail.split_once(',').unwrap();
    format!("{head}{instead},{tail}")
}

#[test]
fn the_version_that_a_store_holds_is_the_one_that_is_served() {
    let commented = format!("// the same door\n\n{SOUND}");
    let wider = SOUND.replace("opened: int = 0", "opened: int = 0, width: int = 9");
    let body = SOUND.replace("DoorState.opened := 1\n", "DoorState.opened := 2\n");
    assert_ne!(body, SOUND);
    let narrow = unchecked().replace("open: bool = false, opened: int = 0", "open: bool = false");
    let narrow = narrow.replace("    DoorState.opened := 1\n", "");
    let narrow: String =
        narrow.lines().filter(|l| !l.starts_with("invariant")).map(|l| format!("{l}\n")).collect();
    let stricter = stricter();
    let files = [
        ("a/door.design", SOUND),
        ("commented/door.design", &commented),
        ("stricter/door.design", &stricter),
        ("wider/door.design", &wider),
        ("body/door.design", &body),
        ("narrow/door.design", &narrow),
    ];
    let folder = folder_with("verdicts-stored", &files);
    let server = Server::start(&folder, &["a/door.design"]);
    server.run(&["call", "door", "keeper", "open", "door=d1"]).exits(0);
    server.run(&["replace", "door", "stricter/door.design"]).exits(0);
    server.kill();
    // a replacement is not undone by the next start
    refused(&folder, &["a/door.design"])
        .exits(1)
        .says("`door` is not served: `embedded:./data` holds another version of this design")
        .says("can be refused by `shut`")
        .says("is no longer refused by `never`")
        .says("- step keeper[open(door: Door) { never:")
        .says("+ step keeper[open(door: Door) { shut:")
        .says("help: `--replace` puts this text in its place");
    Server::start(&folder, &["stricter/door.design"]).kill();
    Server::start(&folder, &["a/door.design", "--replace"]).kill();
    refused(&folder, &["stricter/door.design"]).exits(1);
    refused(&folder, &["body/door.design"]).exits(1).says("+     DoorState.opened := 2");
    refused(&folder, &["wider/door.design"]).exits(1).says("Door.DoorState.width");
    // comments and layout are no difference, and the text is the new one
    let server = Server::start(&folder, &["commented/door.design"]);
    assert_eq!(get(&server, "/v1/door", "*/*").1, commented);
    server.kill();
    Server::start(&folder, &["wider/door.design", "--replace"]).kill();
    // what is stored stands in the way here as elsewhere
    refused(&folder, &["narrow/door.design", "--replace"])
        .exits(1)
        .says("`Door.DoorState.opened` is gone, and holds something");
    let server = Server::start(&folder, &["wider/door.design"]);
    server.run(&["get", "door", "Door", "d1"]).exits(0).says("width 9");
}

#[test]
fn a_replacement_is_held_to_the_same_rule() {
    let (violated, unchecked) = (violated(), unchecked());
    let files =
        [("door.design", SOUND), ("violated.design", &violated), ("unchecked.design", &unchecked)];
    let folder = folder_with("verdicts-replaced", &files);
    run_in(&folder, &["check", "violated.design"]).exits(1);
    let server = Server::start(&folder, &["door.design"]);
    let replace = ["replace", "door", "violated.design"];
    let elsewhere = folder.join("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    server.run(&replace).exits(1).says("its verdict is `violated`").says("help: `--unproved`");
    // whoever asks knows of no verdict; the server does
    let unaware = ["replace", "door", "violated.design", "--verdicts", elsewhere];
    server.run(&unaware).exits(1).says("its verdict is `violated`");
    assert_eq!(get(&server, "/v1/door", "*/*").1, SOUND);
    server.run(&["replace", "door", "unchecked.design"]).exits(0).says("it is not known");
    server
        .run(&["replace", "door", "violated.design", "--unproved"])
        .exits(0)
        .says("the new text is violated");
    assert_eq!(get(&server, "/v1/door", "*/*").0, "violated");
    server.kill();
    refused(&folder, &["violated.design"]).exits(1).says("its verdict is `violated`");
    let server = Server::start(&folder, &["door.design", "--require", "holds", "--replace"]);
    server.run(&["replace", "door", "unchecked.design"]).exits(1).says("there is no `check`");
    let unproved = ["replace", "door", "violated.design", "--unproved"];
    server.run(&unproved).exits(1).says("only what is proved or holds within bounds");
    // one that nobody checked is checked on the way
    fs::write(folder.join("new.design"), format!("{SOUND}// new\n")).unwrap();
    let said = server.run(&["replace", "door", "new.design", "--json"]).exits(0).json();
    assert_eq!(said["verdict"]["word"], "proved", "{said}");
}
