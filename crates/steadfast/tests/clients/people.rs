//! The pages that the systems of the catalog have for those who use them, in Chromium.

use crate::drives::served::Served;
use crate::looks::{audit, axe, is_picture};
use crate::openapi::served::folder;
use crate::webdriver::Browser;

/// A server with one system, whose page is opened by one person after the other.
struct Stage {
    served: Served,
    system: &'static str,
}

impl Stage {
    fn of(system: &'static str) -> Stage {
        let folder = folder(&format!("people-{system}"));
        Stage { served: Served::start(&folder, system, &[]).unwrap(), system }
    }

    /// A window of their own.
    fn enters(&self, who: &str) -> Browser {
        let browser = Browser::start("people");
        browser.size(1280, 900);
        self.opens(&browser);
        browser.fill("#who", who);
        browser.click("#me button");
        browser.until(&format!("the page knows {who}"), || {
            let name = browser.eval("document.querySelector('#who')?.value");
            (name.as_str() == Some(who)).then_some(())
        });
        browser
    }

    fn opens(&self, browser: &Browser) {
        let (server, _) = self.served.url.split_once("/v1/").unwrap();
        browser.open(&format!("{server}/app/{}/", self.system));
    }

    /// As it stands, at three widths, light and dark.
    fn looks_right(&self, browser: &Browser) {
        let sizes = [("desk", 1280), ("tablet", 800), ("phone", 390)];
        for scheme in ["light", "dark"] {
            browser.scheme(scheme);
            for (shape, width) in sizes {
                browser.size(width, 900);
                let name = format!("{}-{scheme}-{shape}", self.system);
                assert!(is_picture(&browser.picture(&name)), "{name}");
                audit(browser, &name);
                axe(browser, &name);
            }
        }
        browser.scheme("light");
        browser.size(1280, 900);
    }
}

#[test]
fn two_people_want_one_seat() {
    let stage = Stage::of("tickets");
    let ann = stage.enters("ann");
    ann.click("details summary");
    ann.click("#add button");
    ann.sees("#said", "The seats are there.");
    let bob = stage.enters("bob");
    bob.sees("#map [data-seat='A2']", "free");
    ann.click("#map [data-seat='A1']");
    ann.sees("#mine [data-seat='A1']", "is held for you for 9:");
    // without loading anything anew
    bob.sees("#map [data-seat='A1']", "held");
    stage.looks_right(&ann);
    ann.click("#mine [data-seat='A1'] button");
    ann.sees("#mine [data-seat='A1']", "is yours");
    bob.sees("#map [data-seat='A1']", "sold");
    // who comes later sees the same
    stage.opens(&ann);
    ann.sees("#mine [data-seat='A1']", "is yours");
    ann.sees("#map [data-seat='A2']", "free");
}
