//! Views over HTTP: aggregates, what rows show of others, rows of the caller, reads in pages.

use serde_json::{Value, json};

use crate::security::{get, guarded_with, post};
use crate::support::{Client, config, service};

const DRIVE: &str = r#"
design Drive

actor user
actor clerk

subject File(file: text) { truth FileState { path: text = "", size: int = 0 } }
subject Share(share: text) {
    truth ShareState { file: File?, to: actor, weight: decimal = 0 }
        visible to user where to = me
        visible to clerk
}

step user[put(file: new File, path: text, size: int)] { FileState := { path: path, size: size } }
step user[move(file: File, path: text)] { FileState.path := path }
step clerk[share(share: new Share, file: File?, to: actor, weight: decimal)] {
    ShareState := { file: file, to: to, weight: weight }
}

view Largest = max size of File
view Least = min size of File
view Usual = avg size round half_even to 1 of File
view Mine of user = list Share where to = me with file.path order by share
view MyWeight of user = sum weight of Share where to = me
view Weight = sum weight of Share

read user[mine] = Mine() paged
read user[path(file: File)] = FileState.path
"#;

fn keys(page: &Value) -> Vec<&str> {
    let rows = page["rows"].as_array().unwrap_or_else(|| panic!("rows: {page}")).iter();
    rows.map(|row| row["key"][0].as_str().expect("a key")).collect()
}

#[test]
fn the_token_decides_whose_rows_they_are() {
    let guarded = guarded_with(vec![service("drive", DRIVE)]);
    let mut client = guarded.client();
    let [bob, cid] = ["bob", "cid"].map(|who| guarded.token(who, "user"));
    let clerk = guarded.token("olga", "clerk");
    let operator = guarded.issue("bob", identity::Roles::ALL).text;
    let file = json!({ "file": "f", "path": "/a", "size": 3 });
    assert_eq!(post(&mut client, &bob, "/v1/drive/user/put", &file).status, 200);
    for (share, to) in [("s1", "bob"), ("s2", "cid"), ("s3", "bob"), ("s4", "bob")] {
        let body = json!({ "share": share, "file": "f", "to": to, "weight": "1.50" });
        let shared = post(&mut client, &clerk, "/v1/drive/clerk/share", &body);
        assert_eq!(shared.status, 200, "{shared:?}");
    }
    let mine = "/v1/drive/views/Mine";
    let page = get(&mut client, &bob, mine).json();
    assert_eq!(keys(&page), ["s1", "s3", "s4"]);
    assert_eq!(page["rows"][0]["with"], json!({ "file.path": "/a" }));
    assert_eq!(keys(&get(&mut client, &cid, mine).json()), ["s2"]);
    assert_eq!(keys(&get(&mut client, &operator, mine).json()), ["s1", "s3", "s4"]);
    // nothing in the address asks for another's
    for query in ["?me=cid", "?to=cid", "?user=cid", "?p.me=cid"] {
        let asked = get(&mut client, &bob, &format!("{mine}{query}"));
        assert_eq!(asked.status, 422, "{query}: {asked:?}");
    }
    let stranger = get(&mut client, &clerk, mine);
    assert_eq!(stranger.status, 403, "{stranger:?}");
    assert_eq!(client.get(mine).status, 401);
    // its own rows may be summed, those of all may not
    assert_eq!(get(&mut client, &bob, "/v1/drive/views/MyWeight").json()["sum"], "4.50");
    assert_eq!(get(&mut client, &bob, "/v1/drive/views/Weight").status, 403);
    // a page of one caller is no place in the rows of another
    let first = get(&mut client, &bob, &format!("{mine}?limit=1")).json();
    let next = first["next"].as_str().expect("there is more");
    let second = get(&mut client, &bob, &format!("{mine}?limit=1&after={next}")).json();
    assert_eq!(keys(&second), ["s3"]);
    let stolen = get(&mut client, &cid, &format!("{mine}?after={next}"));
    assert_eq!((stolen.status, &stolen.json()["pointer"]), (422, &json!("/after")));
    // the same by a read
    let read = "/v1/drive/user/mine";
    let page = post(&mut client, &bob, read, &json!({ "limit": 2 })).json()["result"].clone();
    assert_eq!(keys(&page), ["s1", "s3"]);
    let rest = post(&mut client, &bob, read, &json!({ "after": page["next"] })).json();
    assert_eq!(keys(&rest["result"]), ["s4"]);
    let stolen = post(&mut client, &cid, read, &json!({ "after": page["next"] }));
    assert_eq!(stolen.status, 422, "{stolen:?}");
    for body in [json!({ "limit": 0 }), json!({ "me": "cid" })] {
        let wrong = post(&mut client, &bob, read, &body);
        assert_eq!(wrong.status, 422, "{body}: {wrong:?}");
    }
}

/// What a reference of the document leads to.
fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    match schema["$ref"].as_str().and_then(|to| to.strip_prefix('#')) {
        Some(to) => document.pointer(to).expect("a reference leads somewhere"),
        None => schema,
    }
}

#[test]
fn aggregates_are_null_of_no_row_and_openapi_says_what_is_answered() {
    let server = server::start(config(), vec![service("drive", DRIVE)]).unwrap();
    let mut client = Client::new(server.address());
    let views = [("Largest", "max"), ("Least", "min"), ("Usual", "avg")];
    for (view, name) in views {
        let answer = client.get(&format!("/v1/drive/views/{view}")).json();
        assert_eq!(answer[name], Value::Null, "{view}: {answer}");
    }
    for (file, size) in [("a", 2), ("b", 5), ("c", 4)] {
        let body = json!({ "file": file, "path": "/", "size": size });
        assert_eq!(client.post("/v1/drive/user/put", &body).status, 200);
    }
    for ((view, name), expected) in views.into_iter().zip([json!(5), json!(2), json!("3.70")]) {
        assert_eq!(client.get(&format!("/v1/drive/views/{view}")).json()[name], expected);
    }
    let document = client.get("/openapi.json").json();
    let schema = |path: &str| {
        let get = &document["paths"][path]["get"];
        let content = &get["responses"]["200"]["content"]["application/json"];
        (get.clone(), resolved(&document, &content["schema"])["properties"].clone())
    };
    let (_, largest) = schema("/v1/drive/views/Largest");
    assert_eq!(largest["max"]["type"], json!(["integer", "null"]), "{largest}");
    let (_, usual) = schema("/v1/drive/views/Usual");
    assert_eq!(usual["avg"]["type"], json!(["string", "null"]), "{usual}");
    let (mine, rows) = schema("/v1/drive/views/Mine");
    let row = resolved(&document, &rows["rows"]["items"]);
    let with = &row["properties"]["with"]["properties"];
    assert_eq!(with["file.path"]["type"], json!(["string", "null"]), "{with}");
    let names: Vec<&str> = mine["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(names, ["at_least", "limit", "after"], "the caller is no parameter");
    assert!(mine["summary"].as_str().unwrap().contains("rows of the caller"), "{mine}");
    let read = &document["paths"]["/v1/drive/user/mine"]["post"]["requestBody"]["content"];
    let fields = &read["application/json"]["schema"]["properties"];
    assert!(fields["limit"].is_object() && fields["after"].is_object(), "{fields}");
    assert_eq!(read["application/json"]["schema"]["required"], json!([]));
}
