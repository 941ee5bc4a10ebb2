//! Whether a page looks right, whatever it is about: what can be read, what has a name, what axe-core says.

use std::sync::LazyLock;

use serde_json::json;

use crate::npm;
use crate::webdriver::Browser;

/// Every text that can be seen stands out from what is behind it; every field has a label; no name
/// is used twice; nothing is wider than the window.
const AUDIT: &str = r#"(() => {
  const parse = c => { const m = c.match(/[\d.]+/g).map(Number); if (c.startsWith('color(srgb')) return [m[0]*255, m[1]*255, m[2]*255, m[3] ?? 1]; return [m[0], m[1], m[2], m[3] ?? 1]; };
  const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const over = (top, under) => top.slice(0, 3).map((v, i) => v * top[3] + under[i] * (1 - top[3]));
  const behind = el => { const chain = []; for (let e = el; e; e = e.parentElement) chain.push(e); let c = [255, 255, 255]; for (const e of chain.reverse()) { const b = parse(getComputedStyle(e).backgroundColor); if (b[3] > 0) c = over(b, c); } return c; };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  while (walk.nextNode()) {
    const el = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !el.checkVisibility() || el.closest('svg, script, option, .hidden, [disabled]')) continue;
    texts++;
    const style = getComputedStyle(el), back = behind(el);
    const r = ratio(over(parse(style.color), back), back);
    if (r < 4.5) found.push(`faint ${r.toFixed(2)}: ${walk.currentNode.textContent.trim().slice(0, 40)}`);
  }
  for (const field of document.querySelectorAll('input:not([type=hidden]), select, textarea'))
    if (!field.labels.length && !field.ariaLabel) found.push('no label: ' + field.outerHTML);
  for (const button of document.querySelectorAll('button, a[href]'))
    if (!button.textContent.trim() && !button.ariaLabel) found.push('no name: ' + button.outerHTML);
  const ids = [...document.querySelectorAll('[id]')].filter(e => !e.closest('svg')).map(e => e.id);
  for (const id of ids) if (ids.filter(other => other === id).length > 1) found.push('twice: ' + id);
  if (document.querySelectorAll('h1').length < 1) found.push('no heading');
  if (document.documentElement.scrollWidth > innerWidth + 1) found.push(`wider than the window: ${document.documentElement.scrollWidth} > ${innerWidth}`);
  if (document.querySelector('main script, main img, main iframe')) found.push('markup of a record');
  return { found, texts };
})()"#;

pub fn audit(browser: &Browser, name: &str) {
    let result = browser.eval(AUDIT);
    assert_eq!(result["found"], json!([]), "{name}");
    assert!(result["texts"].as_u64().unwrap_or(0) > 5, "{name}: {result}");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{name}: {complaints:?}");
}

/// The rules of axe-core, which others keep.
const AXE: &str = "axe-core@4.11.0";

/// Whatever axe-core calls serious or critical.
pub fn axe(browser: &Browser, name: &str) {
    static RULES: LazyLock<String> = LazyLock::new(|| {
        std::fs::read_to_string(npm::package(AXE).join("axe.min.js")).expect("axe-core is there")
    });
    let serious = browser.run(&format!(
        "{}\nreturn axe.run(document, {{ resultTypes: ['violations'] }}).then(({{ violations, passes }}) => ({{
           passed: passes.length,
           wrong: violations.filter(it => ['serious', 'critical'].includes(it.impact))
             .map(it => `${{it.id}}: ${{it.help}}: ${{it.nodes.slice(0, 3).map(node => node.html).join(' ')}}`),
         }}));",
        *RULES
    ));
    assert_eq!(serious["wrong"], json!([]), "{name}");
    assert!(serious["passed"].as_u64().unwrap_or(0) > 10, "{name}: {serious}");
}

pub fn is_picture(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG") && bytes.len() > 8_000
}
