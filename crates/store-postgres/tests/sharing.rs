//! x
use crate::support::shared;
use store::*;
use std::time::Instant;
#[test]
fn timing() {
    let server = shared();
    let t = Instant::now();
    let store = server.store();
    eprintln!("open {:?}", t.elapsed());
    for _ in 0..3 {
    let t = Instant::now();
    for n in 0..200u32 { block_on(store.commit(Commit::new().put(format!("k{}", n%7), "x").feed("y").token(Token(n as u128 + t.elapsed().as_nanos() )))).unwrap(); }
    eprintln!("commit {:?}", t.elapsed()/200);
    let t = Instant::now();
    for n in 0..200u32 { block_on(store.read(&[Key::from(format!("k{}", n%7))], None)).unwrap(); }
    eprintln!("read {:?}", t.elapsed()/200);
    let t = Instant::now();
    for n in 0..200u32 { block_on(store.feed(Cursor::at(Partition(0), n as u64), 10)).unwrap(); }
    eprintln!("feed {:?}", t.elapsed()/200);
    }
    eprintln!("{:?}", server.sql("select relname, n_tup_upd, n_tup_hot_upd, n_dead_tup from pg_stat_user_tables"));
}
