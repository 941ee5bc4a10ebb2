//! Drawings as a browser shows them: texts where they were measured to be, none on another, and
//! readable in light and in dark. The pictures are left in `target/drawings` to be looked at.

use crate::support;

use std::path::{Path, PathBuf};
use std::process::Command;

use drawing::{Drawing, together};
use explain::drawings;
use support::{designs, programs, root};

const MEASURE: &str = r#"
const light = c => { const [r, g, b] = c.match(/[\d.]+/g).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
let texts = 0, overlaps = [], faint = [], dark = false;
for (const svg of document.querySelectorAll('svg')) {
  const page = getComputedStyle(svg.querySelector('.page')).fill;
  dark = light(page) < 0.2;
  const boxes = [...svg.querySelectorAll('text')].map(t => {
    if (contrast(getComputedStyle(t).fill, page) < 4.5) faint.push(t.textContent);
    const b = t.getBBox(), turned = t.transform.baseVal.consolidate();
    const corner = (x, y) => { const p = new DOMPoint(x, y); return turned ? p.matrixTransform(turned.matrix) : p; };
    const [p, q] = [corner(b.x, b.y + b.height * 0.15), corner(b.x + b.width, b.y + b.height * 0.9)];
    return [t.textContent, Math.min(p.x, q.x), Math.min(p.y, q.y), Math.max(p.x, q.x), Math.max(p.y, q.y)];
  });
  texts += boxes.length;
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const [a, b] = [boxes[i], boxes[j]];
    if (a[1] < b[3] - 0.5 && b[1] < a[3] - 0.5 && a[2] < b[4] && b[2] < a[4]) overlaps.push(a[0] + ' / ' + b[0]);
  }
}
document.body.innerHTML = '';
document.body.append('RESULT ' + JSON.stringify({ texts, overlaps, faint, dark }) + ' END');
"#;

fn browser(dark: bool, folder: &Path) -> Command {
    let chromium = programs::program("chromium", &["/usr/lib/chromium"], "chromium");
    let mut command = Command::new(chromium);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
    ]);
    command.args([
        "--hide-scrollbars",
        &format!("--user-data-dir={}", folder.join("profile").display()),
    ]);
    if dark {
        command.arg("--blink-settings=preferredColorScheme=0");
    }
    command
}

fn address(path: &Path) -> String {
    format!("file://{}", path.display())
}

#[test]
fn the_largest_designs_are_readable_in_light_and_dark() {
    let mut all = designs();
    all.sort_by_key(|found| std::cmp::Reverse(found.text.len()));
    all.truncate(5);
    let folder = std::env::temp_dir().join(format!("steadfast-drawings-{}", std::process::id()));
    let kept = root().canonicalize().unwrap().join("target/drawings");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::create_dir_all(&kept).unwrap();
    let mut texts = 0;
    let pictures: Vec<(String, Vec<Drawing>)> =
        all.iter().map(|found| (found.name.clone(), drawings(&found.design))).collect();
    for dark in [false, true] {
        texts += measured(&pictures, dark, &folder);
    }
    assert!(texts > 300, "{texts}");
    for (name, drawings) in &pictures {
        for dark in [false, true] {
            picture(name, drawings, dark, &folder, &kept);
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Has the browser measure every text; how many there are.
fn measured(pictures: &[(String, Vec<Drawing>)], dark: bool, folder: &Path) -> u64 {
    let svgs: String = pictures.iter().flat_map(|(_, list)| list).map(|d| d.svg.clone()).collect();
    let page = folder.join("page.html");
    let html = format!("<!doctype html><meta charset=utf-8><body>{svgs}<script>{MEASURE}</script>");
    std::fs::write(&page, html).unwrap();
    let output = browser(dark, folder).arg("--dump-dom").arg(address(&page)).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let result = text.rsplit_once("RESULT ").and_then(|(_, rest)| rest.split_once(" END"));
    let result = result.unwrap_or_else(|| panic!("the browser measured nothing: {text}")).0;
    let result = result.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    assert_eq!(result["dark"], dark);
    assert_eq!(result["overlaps"], serde_json::json!([]));
    assert_eq!(result["faint"], serde_json::json!([]));
    result["texts"].as_u64().unwrap()
}

fn picture(name: &str, drawings: &[Drawing], dark: bool, folder: &Path, kept: &Path) {
    let svg = folder.join(format!("{name}.svg"));
    let drawn = together(drawings);
    std::fs::write(&svg, &drawn).unwrap();
    let word = if dark { "dark" } else { "light" };
    let png: PathBuf = kept.join(format!("{name}-{word}.png"));
    let _ = std::fs::remove_file(&png);
    // small ones stand side by side, so the whole says how large it is
    let size = |word: &str| -> u32 {
        let (_, rest) = drawn.split_once(&format!(" {word}=\"")).unwrap();
        rest.split_once('"').unwrap().0.parse::<f64>().unwrap().ceil() as u32
    };
    let (width, height) = (size("width"), size("height"));
    let status = browser(dark, folder)
        .arg(format!("--window-size={width},{height}"))
        .arg(format!("--screenshot={}", png.display()))
        .arg(address(&svg))
        .output()
        .unwrap();
    let bytes = std::fs::read(&png)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&status.stderr)));
    assert!(bytes.starts_with(b"\x89PNG"), "{name}");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((number(16), number(20)), (width, height), "{name}");
    assert!(bytes.len() > 20_000, "{name}: {} bytes are nearly nothing", bytes.len());
}
