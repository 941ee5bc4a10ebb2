//! What stays in one partition, what crosses, and which keys would change that.

use crate::support;

use explain::{Class, Partitioning, Placed, partition, partitioning};
use support::{changed, compiled, design, designs, table};

fn of<'p>(found: &'p Partitioning, name: &str) -> &'p Placed {
    let mut all = found.operations.iter().chain(&found.reads);
    all.find(|one| one.operation == name).unwrap_or_else(|| panic!("no {name}"))
}

/// The catalog, a line for each design. `cargo xtask bench partitions` and docs/scale.md rest on it.
#[test]
fn the_catalog_is_placed_as_the_table_says() {
    let mut lines = Vec::new();
    let mut sums = [0; 6];
    for found in designs() {
        let totals = partition(&found.design).totals;
        let row = [
            totals.all(),
            totals.local(),
            totals.one_record,
            totals.several_records,
            totals.known,
            totals.found,
        ];
        sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
        lines.push(line(&found.name, row));
    }
    lines.push(line("all", sums));
    let pinned: Vec<String> = table("partitions.tsv").iter().map(|row| row.join("\t")).collect();
    assert_eq!(pinned, lines, "now it is\n{}", lines.join("\n"));
}

fn line(name: &str, row: [usize; 6]) -> String {
    let numbers = row.map(|number| number.to_string());
    format!("{name}\t{}", numbers.join("\t"))
}

fn small(body: &str) -> Partitioning {
    partition(&compiled(&format!("design Small \"A small one\"\nactor user\n{body}")))
}

/// Of the first way out: the keys, and how many operations stay in one partition with them.
fn first(one: &Placed) -> (Vec<&str>, Option<&str>, usize) {
    let way = one.otherwise.first().unwrap_or_else(|| panic!("{one:?}"));
    let keys = way.keys.iter().map(String::as_str).collect();
    (keys, way.stays_in.as_deref(), way.local_then)
}

#[test]
fn a_record_behind_a_reference_is_found_and_a_key_that_begins_with_it_keeps_both_together() {
    let found = partition(&design("tickets").design);
    assert_eq!(of(&found, "organizer[add_seat]").class, Class::Local);
    let hold = of(&found, "buyer[hold]");
    assert_eq!(hold.class, Class::Found);
    assert_eq!(hold.found_by, ["seat.booking"]);
    let records: Vec<(&str, &str, bool, bool)> = hold
        .records
        .iter()
        .map(|it| (it.subject.as_str(), it.path.as_str(), it.written, it.known))
        .collect();
    assert_eq!(
        records,
        [
            ("Seat", "seat", true, true),
            ("Booking", "booking", true, true),
            ("Booking", "seat.booking", true, false),
        ]
    );
    // `Seat.booking` is only ever a booking of this seat, so the old one is there as well
    let all = found.totals.all();
    for crossing in ["buyer[hold]", "buyer[confirm]", "sweeper[release]"] {
        let one = of(&found, crossing);
        let stays = if crossing == "buyer[confirm]" { "booking.seat" } else { "seat" };
        assert_eq!(first(one), (vec!["Booking(seat, booking)"], Some(stays), all), "{crossing}");
    }
    let page = partitioning(&found);
    let told = "- If the key were `Booking(seat, booking)`, it would stay in the partition of `seat`; of the design 4 \
                operations instead of 1.";
    assert!(page.contains(told), "{page}");
    assert!(page.contains("### buyer[hold]: several, found by reading"), "{page}");
}

#[test]
fn an_attribute_that_changes_is_no_part_of_a_key() {
    let text = design("tickets").text;
    let from = "    BookingState.seat.status := SOLD\n";
    let moved =
        compiled(&changed(&text, from, &format!("{from}    BookingState.seat := booking.seat\n")));
    let found = partition(&moved);
    assert!(found.keyed_otherwise.is_empty(), "{:?}", found.keyed_otherwise);
    let why = of(&found, "buyer[confirm]").why_not.as_deref();
    let because = "`booking.seat` may be nothing or become another one, and a key never changes";
    assert_eq!(why, Some(because));
}

#[test]
fn another_part_of_the_key_can_come_first() {
    let found = small(
        "subject Team(team: text) { truth TeamState { size: int = 0 } }
subject Member(name: text, team: Team) { truth MemberState { points: int = 0 } }
step user[score(member: Member)] { MemberState.points += 1  member.team.size += 1 }",
    );
    let score = of(&found, "user[score]");
    assert_eq!(score.class, Class::Known);
    assert_eq!(first(score), (vec!["Member(team, name)"], Some("member.team"), 1));
}

#[test]
fn two_records_of_one_kind_are_tied_by_nothing() {
    let found = small(
        "subject Account(account: text) { truth AccountState { balance: int = 0 } }
step user[move(from: Account, to: Account, amount: int 1..9) { enough: from.balance >= amount }] {
    from.balance -= amount
    to.balance += amount
}
step user[put(account: Account, amount: int 1..9)] { AccountState.balance += amount }",
    );
    let moves = of(&found, "user[move]");
    assert_eq!((moves.class, moves.otherwise.len()), (Class::Known, 0));
    assert!(moves.why_not.as_deref().unwrap().contains("are two of one kind"), "{moves:?}");
    assert_eq!(of(&found, "user[put]").class, Class::Local);
    assert_eq!((found.totals.one_record, found.totals.known), (1, 1));
}

#[test]
fn children_their_parent_and_references_between_them_stay_together() {
    let body = "subject Shelf(shelf: text) { truth ShelfState { last: Book? } }
subject Book(shelf: Shelf, book: text) { truth BookState { read: int = 0 } }
step user[put(book: new Book)] { BookState.read := 0  book.shelf.last := book }
step user[again(shelf: Shelf)] { if ShelfState.last != null { ShelfState.last.read += 1 } }";
    let found = small(body);
    for operation in ["user[put]", "user[again]"] {
        assert_eq!(of(&found, operation).class, Class::Local, "{operation}");
    }
    // one step that puts a book of another shelf there, and what is behind the reference may be anywhere
    let lent =
        format!("{body}\nstep user[lend(shelf: Shelf, book: Book)] {{ ShelfState.last := book }}");
    let found = small(&lent);
    assert_eq!(of(&found, "user[put]").class, Class::Local);
    assert_eq!(of(&found, "user[again]").class, Class::Found);
    assert_eq!(of(&found, "user[lend]").class, Class::Known);
}

#[test]
fn a_loop_reaches_one_partition_for_each_of_its_records() {
    let found = small(
        "subject Team(team: text) { truth TeamState { members: set Member max 5 = {} } }
subject Member(member: text) { truth MemberState { calls: int = 0 } }
subject Seat(row: int, seat: int) { truth SeatState { free: bool = true } }
step user[call_all(team: Team)] { for m in TeamState.members { m.calls += 1 } }
step user[free_row(row: int, seats: list int max 4)] { for s in seats { Seat(row, s).free := true } }",
    );
    let calls = of(&found, "user[call_all]");
    assert_eq!(calls.class, Class::Found);
    assert!(calls.why_not.as_deref().unwrap().contains("each round of a loop"), "{calls:?}");
    // another seat in each round, and the same row
    assert_eq!(of(&found, "user[free_row]").class, Class::Local);
}

#[test]
fn the_next_of_a_list_is_found_unless_its_rows_lie_together() {
    let jobs = |key: &str, by: &str, adds: &str| {
        small(&format!(
            "subject Queue(queue: text) {{ truth QueueState {{ n: int = 0 }} }}
subject Job({key}) {{ truth JobState {{ taken: bool = false{by} }} }}
{adds}
view Free(queue: Queue) = list Job where not taken order by job
step user[take(queue: Queue, job: any of Free(queue)) {{ free: JobState.taken = false }}] {{ JobState.taken := true }}"
        ))
    };
    let take = |found: &Partitioning| {
        let one = of(found, "user[take]");
        (one.class, one.found_by.clone())
    };
    let adds = "step user[add(job: new Job, queue: Queue)] { JobState.queue := queue }";
    let apart = jobs("job: text", ", queue: Queue", adds);
    assert_eq!(take(&apart), (Class::Found, vec!["the next row of Free(queue)".to_owned()]));
    assert_eq!(take(&jobs("queue: Queue, job: text", "", "")), (Class::Local, Vec::new()));
}

#[test]
fn what_is_written_along_is_told_as_it_is_keyed_today() {
    let along = partition(&design("tickets").design).along;
    let with: Vec<(&str, bool)> =
        along.iter().map(|one| (one.what.as_str(), one.with_record)).collect();
    assert_eq!(
        with,
        [
            ("log entry", true),
            ("due repair", false),
            ("outbox entry", false),
            ("due outbox entry", false),
            ("kept outcome", false),
            ("outcome to forget", false),
            ("entry of the feed", false),
        ]
    );
    let outcome = along.iter().find(|one| one.what == "kept outcome").unwrap();
    assert_eq!(outcome.key, "design:u16 'i' hash16(actor, operation, principal, key)");
}
