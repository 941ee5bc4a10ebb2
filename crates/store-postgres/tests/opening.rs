//! Schemas: made, brought forward, and refused where they are somebody else's.

use std::thread;

use store::{Commit, Store, block_on};
use store_postgres::{Address, OpenError, Postgres};

use crate::support::{open, shared};

fn refused(address: &str) -> OpenError {
    Postgres::open(&Address::read(address).unwrap()).expect_err("it is refused")
}

#[test]
fn a_schema_of_somebody_else_is_refused_and_left_alone() {
    let server = shared();
    let schema = server.schema();
    server.sql(&format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.orders (id int)"));
    let error = refused(&server.address(&schema));
    assert!(error.is_foreign);
    let expected = format!("the schema `{schema}` of `postgres://steadfast@127.0.0.1:");
    assert!(error.message.starts_with(&expected), "{error}");
    assert!(
        error.message.ends_with("is not Steadfast's: it holds `orders`, and has no `commits`"),
        "{error}"
    );
    assert!(error.help.contains("?schema=NAME"));
    let tables = format!("SELECT tablename FROM pg_tables WHERE schemaname = '{schema}'");
    assert_eq!(server.sql(&tables), [["orders"]]);
    // a table of the same name does not make it ours
    server.sql(&format!("CREATE TABLE {schema}.steadfast (version int)"));
    assert!(refused(&server.address(&schema)).is_foreign);
}

#[test]
fn a_schema_of_a_newer_version_is_refused_and_left_alone() {
    let server = shared();
    let schema = server.schema();
    drop(open(&server.address(&schema)));
    server.sql(&format!("UPDATE {schema}.steadfast SET version = 99"));
    let error = refused(&server.address(&schema));
    assert!(error.is_foreign);
    assert!(error.message.contains("was written by a newer Steadfast"), "{error}");
    assert!(error.message.contains("has version 99, and this program knows up to 4"), "{error}");
    let version = server.sql(&format!("SELECT version FROM {schema}.steadfast"));
    assert_eq!(version, [["99"]]);
}

#[test]
fn a_schema_of_an_earlier_version_is_brought_forward_with_what_it_holds() {
    let server = shared();
    let schema = server.schema();
    let first = include_str!("../../postgres-requests/src/schema/1.sql");
    server.sql(&format!(
        "CREATE SCHEMA {schema}; SET search_path = {schema}, pg_temp; {first}; \
         INSERT INTO steadfast (version) VALUES (1); \
         INSERT INTO record VALUES ('\\x6b', 7, '\\x76'); UPDATE head SET position = 7"
    ));
    let store = open(&server.address(&schema));
    let record = block_on(store.read(&["k".into()], None)).unwrap().records.remove(0).unwrap();
    assert_eq!((record.version.0, &*record.value), (7, &b"v"[..]));
    assert_eq!(block_on(store.commit(Commit::new().put("k", "w"))).unwrap().position(), 8);
    assert_eq!(block_on(store.blobs().list(None, 1)).unwrap(), []);
    let version = server.sql(&format!("SELECT version FROM {schema}.steadfast"));
    assert_eq!(version, [["4"]]);
}

#[test]
fn servers_that_start_together_make_the_schema_once() {
    let server = shared();
    let address = server.address(&server.schema());
    thread::scope(|scope| {
        for n in 0..8 {
            let address = &address;
            scope.spawn(move || {
                let store = open(address);
                block_on(store.commit(Commit::new().put(n.to_string(), "x"))).unwrap();
            });
        }
    });
    let head = block_on(open(&address).head(store::Partition::default())).unwrap();
    assert_eq!(head.position(), 8);
}

#[test]
fn what_stands_in_the_way_is_said() {
    let server = shared();
    let schema = server.schema();
    let at = |user: &str, port: u16, database: &str| {
        refused(&format!("postgres://{user}@127.0.0.1:{port}/{database}?schema={schema}"))
    };
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let said = at("steadfast", closed, "postgres");
    assert!(said.message.contains("Connection refused"), "{said}");
    assert!(said.help.contains("see that PostgreSQL runs there"), "{said}");
    let said = at("steadfast", server.port, "nowhere");
    assert!(said.message.contains("database \"nowhere\" does not exist"), "{said}");
    assert!(said.help.contains("createdb"), "{said}");
    server.sql(&format!("CREATE ROLE weak_{schema} LOGIN"));
    let said = at(&format!("weak_{schema}"), server.port, "postgres");
    assert!(said.message.contains("permission denied for database postgres"), "{said}");
    assert!(said.help.contains("CREATE SCHEMA"), "{said}");
    server.sql(&format!(
        "CREATE ROLE strict_{schema} LOGIN; \
         ALTER ROLE strict_{schema} SET default_transaction_isolation = 'serializable'"
    ));
    let said = at(&format!("strict_{schema}"), server.port, "postgres");
    assert!(said.message.contains("are `serializable` by default"), "{said}");
}

/// Whatever the role is set to, commits wait for the disk.
#[test]
fn commits_are_synchronous_whatever_the_session_says() {
    let server = shared();
    let schema = server.schema();
    drop(open(&server.address(&schema)));
    let none = "'{}', '{}', '{}'";
    let rows = server.sql(&format!(
        "BEGIN; SET synchronous_commit = off; \
         SELECT {schema}.commit_4(ARRAY[NULL]::uuid[], ARRAY[NULL]::bigint[], '{{t}}', ARRAY['\\x'::bytea], {none}, {none}, '{{}}', {none}, '{{}}', '{{}}'); \
         SHOW synchronous_commit; ROLLBACK"
    ));
    assert_eq!(rows.last(), Some(&vec!["on".to_owned()]));
}
