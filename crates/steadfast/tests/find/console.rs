//! The first page of the console asks which archetype a problem is, and answers.

use crate::cli::serving::Server;
use crate::cli::support::folder;

fn front(server: &Server, query: &str) -> String {
    let agent: ureq::Agent = ureq::Agent::config_builder().proxy(None).build().into();
    let mut answer = agent.get(format!("{}/console{query}", server.address)).call().unwrap();
    answer.body_mut().read_to_string().unwrap()
}

#[test]
fn the_first_page_asks_and_answers() {
    let server = Server::start(&folder("find-console"), &["tickets"]);
    let page = front(&server, "");
    assert!(page.contains("Which archetype is my problem?"), "{page}");
    assert!(page.contains("name=\"find\" value=\"\""), "{page}");
    assert!(!page.contains("steadfast explain"), "nobody asked: {page}");
    let page = front(&server, "?find=double+booking");
    assert!(page.contains("<h3>A08 Time-Bounded Exclusive Allocation</h3>"), "{page}");
    assert!(page.contains("<code>steadfast explain A08</code>"), "{page}");
    assert!(page.contains("value=\"double booking\""), "{page}");
    let page = front(&server, "?find=xylophone");
    assert!(page.contains("No archetype knows a word of this."), "{page}");
}

#[test]
fn what_is_asked_does_not_become_part_of_the_page() {
    let server = Server::start(&folder("find-console-escaped"), &["tickets"]);
    let page = front(&server, "?find=%22%3E%3Cscript%3Ealert(1)%3C/script%3E+auction");
    assert!(page.contains("<h3>A16 "), "{page}");
    assert!(!page.contains("<script>alert"), "{page}");
}
