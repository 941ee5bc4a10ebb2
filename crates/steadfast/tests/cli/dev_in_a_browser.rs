//! What `steadfast dev` says of a broken goal, opened in Chromium as one follows the address that it prints.

use super::dev::{Dev, violated};
use crate::cli::support::{SOUND, folder_with};
use crate::webdriver::Browser;

#[test]
fn the_step_that_breaks_a_goal_is_seen_where_dev_says() {
    let folder = folder_with("dev-browser", "door.design", SOUND);
    let mut dev = Dev::start(&folder, &["door.design"]);
    dev.until("door.design: proved");
    dev.save(&violated());
    let said = dev.until("#counted-step-1");
    let address = format!("http://{}", said.trim_end().rsplit("http://").next().unwrap());
    let browser = Browser::start("dev");
    let sizes = [("desk", 1280), ("tablet", 800), ("phone", 390)];
    for (scheme, (shape, width)) in
        ["light", "dark"].into_iter().flat_map(|scheme| sizes.map(|size| (scheme, size)))
    {
        let name = format!("dev-violated-{scheme}-{shape}");
        browser.scheme(scheme);
        browser.size(width, 800);
        // a change of what is behind the `#` alone would not load the page anew
        browser.open("about:blank");
        browser.open(&address);
        browser.sees("li:target", "open");
        browser.until("the step is within the window", || {
            let place = "document.querySelector('li:target').getBoundingClientRect()";
            let seen = format!(
                "(() => {{ const r = {place}; return r.top >= 0 && r.top < innerHeight; }})()"
            );
            browser.eval(&seen).as_bool().unwrap_or(false).then_some(())
        });
        let wide = browser.eval("document.documentElement.scrollWidth <= innerWidth + 1");
        assert_eq!(wide, true, "{name} is wider than the window");
        assert!(browser.picture(&name).len() > 10_000, "{name}");
    }
    assert_eq!(browser.complaints(), [] as [String; 0]);
    // mended and saved: the page of the design says so
    dev.save(SOUND);
    dev.until("door.design: proved");
    let (server, _) = address.split_once("/console/").unwrap();
    browser.open(&format!("{server}/console/door/design"));
    browser.sees(".top", "proved");
    assert_eq!(dev.interrupt(), Some(0));
}
