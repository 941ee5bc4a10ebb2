//! The console where nobody is let in without a token.

use std::sync::Arc;

use gateway::Access;
use identity::{Identity, NewToken, Roles, Target, now_s};
use serde_json::json;
use server::{Config, Running};

use crate::pages::submit;
use crate::support::{Client, Response, TICKETS, config, service};

struct Guarded {
    server: Running,
    keys: Arc<Identity>,
}

impl Guarded {
    fn start() -> Guarded {
        let keys = Arc::new(Identity::in_memory().unwrap());
        let access = Access { identity: Some(Arc::clone(&keys)), tokens: true, issuer: None };
        let services = vec![service("tickets", TICKETS)];
        let server = crate::support::start(Config { access, ..config() }, services).unwrap();
        Guarded { server, keys }
    }

    fn token(&self, who: &str, roles: Roles) -> String {
        let new = NewToken { principal: who.into(), roles, service: None, lifetime_s: 600 };
        self.keys.issue(&new, now_s()).unwrap().text
    }

    fn client(&self) -> Client {
        Client::new(self.server.address())
    }

    /// Types the token into the form, and gives the cookie that is kept.
    fn sign_in(&self, token: &str) -> String {
        let fields = [("token", token), ("back", "/console/tickets/steps")];
        let answer = submit(&mut self.client(), "/console/_/sign-in", &fields);
        assert_eq!(answer.status, 303, "{}", answer.text());
        assert_eq!(answer.header("location"), Some("/console/tickets/steps"));
        let kept = answer.header("set-cookie").expect("a cookie").to_string();
        for part in ["HttpOnly", "SameSite=Strict", "Path=/console"] {
            assert!(kept.contains(part), "{kept}");
        }
        kept.split(';').next().unwrap_or_default().to_string()
    }
}

fn page(client: &mut Client, cookie: &str, path: &str) -> Response {
    client.request("GET", path, &[("cookie", cookie)], "")
}

#[test]
fn a_person_signs_in_and_out_and_a_bad_token_is_explained() {
    let guarded = Guarded::start();
    let mut client = guarded.client();
    for path in ["/console", "/console/tickets/records", "/console/tickets/record/Seat?key=A1"] {
        let asked = client.get(path);
        assert_eq!(asked.status, 401, "{path}");
        let text = asked.text();
        assert!(text.contains("Sign in") && text.contains("name=\"token\""), "{path}");
        assert!(!text.contains("Seat booking"), "{path}: nothing is told before");
    }
    for wrong in ["", "nonsense", "eyJhbGciOiJub25lIn0.e30."] {
        let answer = submit(&mut client, "/console/_/sign-in", &[("token", wrong)]);
        assert_eq!(answer.status, 401, "{wrong}");
        assert!(answer.header("set-cookie").is_none(), "{wrong}");
        assert!(answer.text().contains("role=\"alert\""), "{wrong}: {}", answer.text());
    }
    let olga = guarded.sign_in(&guarded.token("olga", Roles::ALL));
    let front = page(&mut client, &olga, "/console");
    assert_eq!(front.status, 200, "{}", front.text());
    assert!(front.text().contains("<strong>olga</strong> all roles"), "{}", front.text());
    assert!(!front.text().contains("Acting as"), "who acts is not a choice here");
    let out = submit(&mut client, "/console/_/sign-out", &[]);
    assert!(out.header("set-cookie").is_some_and(|line| line.contains("Max-Age=0")), "{out:?}");
    // and at once, when the token is taken back
    guarded.keys.revoke(Target::Principal("olga"), now_s()).unwrap();
    assert_eq!(page(&mut client, &olga, "/console/tickets/records").status, 401);
}

#[test]
fn a_role_sees_and_does_what_is_its_own() {
    let guarded = Guarded::start();
    let mut client = guarded.client();
    let olga = guarded.sign_in(&guarded.token("olga", Roles::ALL));
    // a role of one design, by its whole name
    let ann = guarded.sign_in(&guarded.token("ann-the-buyer", Roles::some(["tickets/buyer"])));
    let bob = guarded.sign_in(&guarded.token("bob", Roles::some(["buyer"])));
    let other = guarded.sign_in(&guarded.token("eve", Roles::some(["billing/buyer"])));
    let step = |client: &mut Client, cookie: &str, step: &str, fields: &str| {
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("sec-fetch-site", "same-origin"),
            ("cookie", cookie),
        ];
        client.request("POST", &format!("/console/tickets/step/{step}"), &headers, fields)
    };
    let add = "p.seat=A1&p.section=s";
    assert_eq!(step(&mut client, &ann, "organizer/add_seat", add).status, 403);
    assert_eq!(step(&mut client, &olga, "organizer/add_seat", add).status, 200);
    let hold = "p.seat=A1&p.booking=the-secret-booking&p.ttl=";
    assert_eq!(step(&mut client, &other, "buyer/hold", hold).status, 403);
    // a form cannot make somebody somebody else
    let held = step(&mut client, &ann, "buyer/hold", &format!("as=bob&{hold}"));
    assert_eq!(held.status, 200, "{}", held.text());
    let record = "/console/tickets/record/Booking?key=the-secret-booking";
    let own = page(&mut client, &ann, record).text();
    assert!(own.contains("ann-the-buyer") && own.contains("IN_PROGRESS"), "{own}");
    for cookie in [&bob, &other] {
        for path in [
            "/console/tickets",
            "/console/tickets/records",
            "/console/tickets/records/Booking",
            "/console/tickets/feed",
            "/console/tickets/refusals",
            "/console/tickets/repairs",
            "/console/tickets/hot",
            record,
        ] {
            let seen = page(&mut client, cookie, path);
            let text = seen.text().replace(record, "").replace("value=\"the-secret-booking\"", "");
            assert!(!text.contains("ann-the-buyer"), "{path}: {text}");
        }
        let hidden = page(&mut client, cookie, record);
        assert!(hidden.text().contains("There is no such record."), "{}", hidden.text());
        let outbox = page(&mut client, cookie, "/console/tickets/outbox");
        assert_eq!(outbox.status, 403);
        assert!(outbox.text().contains("<h1>Not for your role</h1>"), "{}", outbox.text());
        let feed = page(&mut client, cookie, "/console/tickets/feed").text();
        // who has another role sees nothing of it at all
        let somebody = feed.contains("somebody whom you may not see");
        assert_eq!(somebody, cookie == &bob, "{feed}");
        assert!(!feed.contains(">engine<"), "{feed}");
        for path in ["outbox", "aside"] {
            assert!(!feed.contains(&format!("href=\"/console/tickets/{path}\"")), "{path}: {feed}");
        }
        assert_eq!(page(&mut client, cookie, "/console/_/servers").status, 403);
        let front = page(&mut client, cookie, "/console").text();
        assert!(!front.contains("/console/_/servers"), "{front}");
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("sec-fetch-site", "same-origin"),
            ("cookie", cookie.as_str()),
        ];
        assert_eq!(page(&mut client, cookie, "/console/tickets/aside").status, 403);
        for path in [
            "/console/tickets/outbox/retry",
            "/console/tickets/aside/retry",
            "/console/tickets/aside/discard",
            "/console/tickets/check",
        ] {
            let refused = client.request("POST", path, &headers, "effect=x&key=y&id=z");
            assert_eq!(refused.status, 403, "{path}: {}", refused.text());
        }
    }
    let outbox = page(&mut client, &olga, "/console/tickets/outbox");
    assert_eq!(outbox.status, 200);
    assert!(outbox.text().contains("href=\"/console/tickets/aside\""), "{}", outbox.text());
    assert_eq!(page(&mut client, &olga, "/console/_/servers").status, 200);
    let truth = guarded.token("olga", Roles::ALL);
    let bearer = format!("Bearer {truth}");
    let path = "/v1/tickets/Booking/the-secret-booking";
    let stored = client.request("GET", path, &[("authorization", &bearer)], "").json();
    assert_eq!(stored["truth"]["BookingState"]["buyer"], json!("ann-the-buyer"));
}
