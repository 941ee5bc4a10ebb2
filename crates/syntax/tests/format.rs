//! The formatter keeps its promises: the layout in `data/format`, and, on everything else, the same
//! tokens, comments and tree, and no further change the second time.

#[path = "format/mutate.rs"]
mod mutate;
#[path = "format/same.rs"]
mod same;

use std::fs;
use std::path::{Path, PathBuf};

use mutate::{BLANKS, ERRORS, Kind, LINES, Mutation, Random};
use same::checked;
use syntax::format;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// The files below a folder with this extension, in order.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The designs that the random tests spoil: all test data that is read without a word.
fn good_designs() -> Vec<String> {
    let designs = files(&data(), "design").into_iter().map(|path| read(&path));
    designs.filter(|text| format(text).diagnostics.is_empty()).collect()
}

#[test]
fn each_construct_has_its_layout() {
    let ugly = files(&data().join("format"), "ugly");
    assert!(ugly.len() >= 12, "only {} pairs", ugly.len());
    for path in ugly {
        let pretty = read(&path.with_extension("design"));
        let formatted = format(&read(&path));
        assert_eq!(formatted.diagnostics, [], "{}", path.display());
        assert_eq!(formatted.text, pretty, "{}", path.display());
        assert_eq!(format(&pretty).text, pretty, "{}", path.display());
        checked(&read(&path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

#[test]
fn designs_and_snippets_stay_what_they_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts: Vec<(PathBuf, String)> = Vec::new();
    for folder in [data(), root.join("designs")] {
        texts.extend(files(&folder, "design").into_iter().map(|path| (path.clone(), read(&path))));
    }
    for path in files(&root.join("docs"), "md") {
        // every second piece between the fences is a snippet
        let page = read(&path);
        let snippets = page.split("```").skip(1).step_by(2);
        let body =
            |snippet: &str| snippet.split_once('\n').map_or("", |(_, body)| body).to_string();
        texts.extend(snippets.map(|snippet| (path.clone(), body(snippet))));
    }
    assert!(texts.len() > 10);
    for (path, text) in texts {
        checked(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

#[test]
fn a_comment_between_any_two_tokens_is_kept() {
    for design in good_designs() {
        let items = syntax::parse(&design, syntax::FileId(0)).tree.items;
        for item in items.iter().map(|item| item.span.text(&design)) {
            let places = syntax::lex(item, syntax::FileId(0)).0.len() as u64;
            for (place, kind) in
                (0..places).flat_map(|place| [(place, Kind::Trailing), (place, Kind::OwnLine)])
            {
                let spoiled = mutate::apply(item, &[Mutation { kind, place }]);
                checked(&spoiled).unwrap_or_else(|error| panic!("{error}"));
            }
        }
    }
}

/// Blanks within lines never matter, but for those that take a word such as `lease-backed` apart.
#[test]
fn blanks_change_nothing() {
    let mut clean = 0;
    let runs = for_random(BLANKS, 40, 2_000, |source, spoiled| {
        let formatted = format(spoiled);
        clean += usize::from(formatted.diagnostics.is_empty());
        let same = !formatted.diagnostics.is_empty() || format(source).text == formatted.text;
        same.then_some(()).ok_or_else(|| format!("the layout depends on blanks:\n{spoiled}"))
    });
    assert!(clean * 10 > runs * 9, "only {clean} of {runs} were read without a word");
}

#[test]
fn comments_and_line_breaks_anywhere_do_no_harm() {
    let mut clean = 0;
    let runs = for_random(LINES, 12, 20_000, |_, spoiled| {
        clean += usize::from(format(spoiled).diagnostics.is_empty());
        checked(spoiled).map(|_| ())
    });
    // else the test would only ever see items that are left alone
    assert!(clean * 2 > runs, "only {clean} of {runs} were read without a word");
}

#[test]
fn errors_do_no_harm() {
    for_random(ERRORS, 6, 20_000, |_, spoiled| checked(spoiled).map(|_| ()));
}

#[test]
fn items_with_errors_stay_and_the_others_are_laid_out() {
    for (source, expected) in [
        // an error inside an item
        (
            "actor   a\nstep a[x(] {   y:=  }\nactor   b  // why\n",
            "actor a\nstep a[x(] {   y:=  }\nactor b  // why\n",
        ),
        // one with comments in and around it
        (
            "actor  a\n\n\n// c\nsubject S(s: text) {  // d\n  truth T { n  int\n}\n// e\nactor  b",
            "actor a\n\n// c\nsubject S(s: text) {  // d\n  truth T { n  int\n}\n// e\nactor b\n",
        ),
        // what belongs to no item
        ("actor   a\n)  )\nactor   b\n", "actor a\n)  )\nactor b\n"),
        ("actor   a § \nactor   b\n", "actor   a §\nactor b\n"),
        ("stop  a[x]  {}\ninvariant i:a   or b\n", "stop  a[x]  {}\ninvariant i: a or b\n"),
        // what only the end of the text closes
        ("actor   a\ndesign X \"open\n", "actor a\ndesign X \"open\n"),
        ("actor   a\n/* open\n\n", "actor a\n/* open\n\n"),
    ] {
        let formatted = format(source);
        assert_ne!(formatted.diagnostics, [], "{source}");
        assert_eq!(formatted.text, expected, "{source}");
        checked(source).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn odd_files_come_out_well() {
    for (source, expected) in [
        ("", ""),
        (" \n\t\r\n", ""),
        ("// only a comment", "// only a comment\n"),
        ("\u{feff}actor a", "actor a\n"),
        ("actor a\r\n\r\n\r\n\r\nactor\tb // c \t\r\n", "actor a\n\nactor b  // c\n"),
        ("actor a actor b", "actor a\nactor b\n"),
        ("actor a{// c\n}", "actor a {  // c\n}\n"),
        ("check { , a: 1,, b: 2, }", "check { a: 1  b: 2 }\n"),
    ] {
        assert_eq!(format(source).text, expected, "{source:?}");
        checked(source).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn what_is_too_long_or_too_deep_to_be_read_stays() {
    let long = " actor  a\n".repeat(syntax::MAX_SOURCE_BYTES / 10 + 1);
    assert!(format(&long).text == long);
    for open in ["(", "{", "[", "not ", "-", "f(", "all x in S: "] {
        let deep = format!("actor   a\ninvariant i:  {}", open.repeat(100_000));
        let expected = deep.replace("actor   a", "actor a") + "\n";
        assert_eq!(format(&deep).text, expected.replace(" \n", "\n"));
    }
}

/// Time grows as the text does, also where everything is one item, or deep in it.
#[test]
fn time_grows_with_the_text() {
    type Source = fn(usize) -> String;
    let sources: [(&str, Source); 4] = [
        ("items", |n| "step a[op(p: T) { c: x = y }] { n := n + 1 }\n".repeat(n / 4)),
        ("operands", |n| format!("invariant i: {}a", "a = b or ".repeat(n))),
        ("elements", |n| format!("define s = {{{}a}}", "(aaaa), ".repeat(n))),
        ("deep elements", |n| {
            let (open, close) = ("f(".repeat(60), ")".repeat(60));
            format!("define s = {open}{}a{close}", "aaaa, ".repeat(n))
        }),
    ];
    for (name, source) in sources {
        let took = |n: usize| {
            let text = source(n);
            assert!(format(&text).diagnostics.is_empty(), "{name}");
            let runs = (0..3).map(|_| {
                let start = std::time::Instant::now();
                format(&text);
                start.elapsed()
            });
            runs.min().unwrap_or_default().as_secs_f64()
        };
        let (once, longer) = (took(250), took(16_000));
        // 64 times is linear and 4096 times quadratic; a busy machine is somewhere in between
        assert!(longer < 800.0 * once, "{name}: {once} s, and {longer} s for 64 times as much");
    }
}

/// Spoils good designs with up to `most` mutations of these kinds, and shows what failed with as
/// few of them as will do. `FORMAT_SEED` runs other cases.
fn for_random(
    kinds: &[Kind],
    most: usize,
    runs: usize,
    mut check: impl FnMut(&str, &str) -> Result<(), String>,
) -> usize {
    let runs = if cfg!(debug_assertions) { runs / 20 } else { runs };
    let seed = std::env::var("FORMAT_SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(1);
    let designs = good_designs();
    assert!(designs.len() > 10);
    for run in 0..runs {
        let mut random = Random(seed + run as u64);
        let source = window(&designs[random.below(designs.len())], &mut random);
        let mut mutations = mutate::some(&mut random, kinds, most);
        let mut fails =
            |mutations: &[Mutation]| check(&source, &mutate::apply(&source, mutations)).err();
        let Some(mut error) = fails(&mutations) else { continue };
        let mut index = 0;
        while index < mutations.len() {
            let mut fewer = mutations.clone();
            fewer.remove(index);
            match fails(&fewer) {
                Some(smaller) => (error, mutations) = (smaller, fewer),
                None => index += 1,
            }
        }
        panic!("seed {}, {mutations:?}: {error}", seed + run as u64);
    }
    runs
}

/// A few items that follow each other: a mutation hits more of what is near it, and sooner.
fn window(design: &str, random: &mut Random) -> String {
    let tree = syntax::parse(design, syntax::FileId(0)).tree;
    let first = random.below(tree.items.len());
    let last = (first + random.below(4)).min(tree.items.len() - 1);
    let (start, end) = (tree.items[first].span.start, tree.items[last].span.end);
    design[start as usize..end as usize].to_string() + "\n"
}

#[test]
fn what_the_server_chooses_is_written_like_a_default() {
    let text =
        "design D\nstep  a [ invite(guest:new Guest=new   id,pin:secret = new code( 6 ))]{ }\n";
    let formatted = format(text).text;
    assert!(
        formatted
            .contains("step a[invite(guest: new Guest = new id, pin: secret = new code(6))] {}"),
        "{formatted}"
    );
}

#[test]
fn what_the_server_takes_is_written_like_a_call() {
    let text =
        "design D\nstep  w [ claim(q:Queue,job :any   of  Runnable( q ,n ),k:any of All)]{ }\n";
    let formatted = format(text).text;
    assert!(
        formatted.contains("step w[claim(q: Queue, job: any of Runnable(q, n), k: any of All)] {}"),
        "{formatted}"
    );
}

#[test]
fn records_in_a_list_are_written_like_a_state() {
    let text = "design D\nsubject S(s:text){truth T{l:list{sku:text,qty:int 1..9?}max 3}}\n\
                step a[p(s:S,l:list  {a:int} max  2)]{T.l+={sku:\"a\",qty:2}}\n";
    let formatted = format(text).text;
    for line in [
        "subject S(s: text) { truth T { l: list { sku: text, qty: int 1..9? } max 3 } }",
        "step a[p(s: S, l: list { a: int } max 2)] { T.l += { sku: \"a\", qty: 2 } }",
    ] {
        assert!(formatted.contains(line), "{formatted}");
    }
    assert_eq!(format(&formatted).text, formatted);
}

#[test]
fn where_a_time_is_from_stands_behind_its_type() {
    let text =
        "design D\nstep  d [ report(at:time   from  caller,n:list time max 3 from\ncaller )]{ }\n";
    let formatted = format(text).text;
    let expected = "step d[report(at: time from caller, n: list time max 3 from caller)] {}";
    assert!(formatted.contains(expected), "{formatted}");
}
