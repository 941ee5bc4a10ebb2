//! Small designs, one for each kind of system, held against the wordings of the action lines that
//! such systems have. The catalog's own designs come later; the rules must be ready for them.

use crate::support;

use explain::{Mechanism, derive};
use support::actions::{judge, wordings};
use support::compiled;

/// Each expectation is an operation, the states it is about, and a wording.
fn check(text: &str, expected: &[(&str, &str, &str)]) {
    let derived = derive(&compiled(text));
    let wordings = wordings();
    let mut problems = Vec::new();
    for (operation, states, wording) in expected {
        let meaning = wordings.get(*wording).unwrap_or_else(|| panic!("no wording `{wording}`"));
        if let Err(problem) = judge(&derived, operation, states, meaning) {
            problems.push(format!("{operation} is `{wording}`: {problem}"));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

fn phrase(text: &str, operation: &str) -> String {
    let derived = derive(&compiled(text));
    derived
        .into_iter()
        .find(|d| d.name == operation)
        .unwrap_or_else(|| panic!("no {operation}"))
        .phrase
}

const STREAM: &str = r#"
design Stream "A log and who reads it"
actor producer
actor consumer
subject Topic(topic: text) {
    truth TopicState { open: bool = true }
    log Records { body: text } retain 100
}
subject Progress(topic: Topic, group: text) { truth ProgressState { next: int = 0 } }
step producer[append(topic: Topic, body: text) { open: TopicState.open }] { append Records { body: body } }
step consumer[commit(progress: Progress, offset: int) { forward: ProgressState.next < offset }] {
    ProgressState.next := offset
}
subject Entry(topic: Topic, offset: int) { truth EntryState { read: bool = false } }
step consumer[commit_entry(progress: Progress, entry: Entry) { forward: ProgressState.next <= entry.offset }] {
    ProgressState.next := entry.offset + 1
}
read consumer[fetch(topic: Topic, from: int)] = slice(Records, from, 10)
"#;

#[test]
fn a_log_and_its_readers() {
    check(
        STREAM,
        &[
            ("producer[append]", "Records", "append, append log"),
            ("consumer[fetch]", "Records", "read source"),
            (
                "consumer[commit]",
                "ProgressState",
                "overwrite, versioned overwrite or guarded offset commit",
            ),
        ],
    );
    assert_eq!(phrase(STREAM, "consumer[commit]"), "guarded offset commit");
    assert_eq!(phrase(STREAM, "consumer[commit_entry]"), "guarded offset commit");
}

const BUDGET: &str = r#"
design Budget "Tokens"
actor client
actor clerk
actor admin { seen: int? of Bucket }
subject Bucket(bucket: text) {
    truth TokenState { tokens: int = 10, refill_at: time? }
    truth PolicyState { capacity: int = 10, version: int = 0 }
}
step client[take(bucket: Bucket, n: int) { enough: TokenState.tokens >= n }] { TokenState.tokens -= n }
repair clerk[refill(bucket: Bucket) { due: TokenState.refill_at < now }] {
    TokenState.tokens := PolicyState.capacity
    TokenState.refill_at := now + 1s
}
step admin[set_policy(bucket: Bucket, capacity: int) { current: PolicyState.version = seen }] {
    PolicyState.capacity := capacity
    PolicyState.version += 1
}
read admin[policy(bucket: Bucket)] = PolicyState { seen := PolicyState.version }
read client[left(bucket: Bucket)] = TokenState
"#;

#[test]
fn budgets_and_policies() {
    check(
        BUDGET,
        &[
            (
                "client[take]",
                "TokenState",
                "state transition, atomic counter or token bucket update",
            ),
            ("clerk[refill]", "TokenState", "state transition, scheduled refill"),
            ("admin[set_policy]", "PolicyState", "overwrite, versioned overwrite"),
            ("client[left]", "TokenState", "read source"),
        ],
    );
}

const SEQUENCE: &str = r#"
design Ids "Worker identities and their sequences"
actor worker { my_epoch: int? of Slot }
subject Slot(slot: int) {
    truth LeaseState { owner: actor?, expires_at: time?, epoch: int = 0 }
    truth SequenceState { last: int = 0 }
}
step worker[claim(slot: Slot) { free: LeaseState.owner = null or LeaseState.expires_at < now }] {
    LeaseState.owner := me
    LeaseState.expires_at := now + 10s
    LeaseState.epoch += 1
    my_epoch := LeaseState.epoch
}
step worker[renew(slot: Slot) { fenced: LeaseState.epoch = my_epoch }] { LeaseState.expires_at := now + 10s }
step worker[generate(slot: Slot) { fenced: LeaseState.epoch = my_epoch  live: LeaseState.expires_at >= now }] {
    SequenceState.last += 1
}
"#;

#[test]
fn identifiers() {
    check(
        SEQUENCE,
        &[
            ("worker[claim]", "LeaseState", "state transition, claim/lease"),
            ("worker[renew]", "LeaseState", "state transition, guarded conditional update"),
            (
                "worker[generate]",
                "SequenceState",
                "state transition, guarded local sequence advance",
            ),
        ],
    );
    assert_eq!(phrase(SEQUENCE, "worker[generate]"), "guarded sequence advance");
}

const MEMBERS: &str = r#"
design Members "Who is there"
actor node
actor sweeper
subject Member(member: text) {
    truth MemberState { status: ALIVE | GONE = ALIVE, host: text, heard_until: time? }
}
step node[register(member: new Member, host: text)] {
    MemberState.host := host
    MemberState.heard_until := now + 10s
}
step node[heartbeat(member: Member) { alive: MemberState.status = ALIVE }] { MemberState.heard_until := now + 10s }
repair sweeper[expire(member: Member) { silent: MemberState.status = ALIVE and MemberState.heard_until < now }] {
    MemberState.status := GONE
}
view Alive = list Member where status = ALIVE order by member
read node[alive] = Alive()
"#;

#[test]
fn membership() {
    check(
        MEMBERS,
        &[
            ("node[register]", "MemberState", "create target, insert/create"),
            ("node[heartbeat]", "MemberState", "state transition, guarded lease/heartbeat update"),
            ("sweeper[expire]", "MemberState", "state transition, expiry scan + guarded removal"),
            ("node[alive]", "Alive", "read projection"),
        ],
    );
}

const SCHEDULE: &str = r#"
design Schedule "Jobs that become due"
actor user
actor scheduler
actor worker { my_attempt: int? of Run }
actor sweeper
subject Job(job: text) {
    truth JobState { due_at: time?, runs: int = 0, status: WAITING | RELEASED = WAITING }
}
subject Run(job: Job, number: int) {
    truth RunState { status: READY | RUNNING | DONE = READY, owner: actor?, until: time?, attempt: int = 0 }
}
step user[create_job(job: new Job, delay: duration)] { JobState.due_at := now + delay }
repair scheduler[release(job: Job) { due: JobState.status = WAITING and JobState.due_at < now }] {
    new Run(job, JobState.runs) {}
    JobState.runs += 1
    JobState.status := RELEASED
}
step worker[claim(run: Run) { ready: RunState.status = READY }] {
    RunState.status := RUNNING
    RunState.owner := me
    RunState.until := now + 30s
    RunState.attempt += 1
    my_attempt := RunState.attempt
}
step worker[complete(run: Run) { mine: RunState.attempt = my_attempt  running: RunState.status = RUNNING }] {
    RunState.status := DONE
    RunState.owner := null
}
repair sweeper[requeue(run: Run) { stalled: RunState.status = RUNNING and RunState.until < now }] {
    RunState.status := READY
    RunState.owner := null
    RunState.attempt += 1
}
"#;

#[test]
fn schedules() {
    check(
        SCHEDULE,
        &[
            ("user[create_job]", "JobState", "create target, insert/create future-constrained run"),
            ("scheduler[release]", "RunState", "create target, materialize claimable run"),
            ("worker[claim]", "RunState", "state transition, claim/lease"),
            ("worker[complete]", "RunState", "state transition, guarded conditional update"),
            ("sweeper[requeue]", "RunState", "claim lease expiry, run becomes reclaimable"),
        ],
    );
    let derived = derive(&compiled(SCHEDULE));
    let release = derived.iter().find(|d| d.name == "scheduler[release]").unwrap();
    assert_eq!(release.mechanism, Some(Mechanism::DueScan));
    assert_eq!(phrase(SCHEDULE, "user[create_job]"), "insert of a run that waits for its time");
}

const CRAWL: &str = r#"
design Crawl "A frontier of addresses"
actor operator
actor fetcher
subject Site(site: text) { truth SiteState { open: bool = true } }
subject Page(page: text) { truth PageState { status: FOUND | FETCHED = FOUND, depth: int = 0 } }
step operator[seed(page: new Page)] { PageState.depth := 0 }
step fetcher[expand(page: Page, links: list text max 8) { found: PageState.status = FOUND }] {
    PageState.status := FETCHED
    for link in links { new Page(link) { depth: 1 } }
}
"#;

#[test]
fn frontiers() {
    check(
        CRAWL,
        &[
            ("operator[seed]", "PageState", "create target, frontier append"),
            (
                "fetcher[expand]",
                "Page(link):PageState",
                "create target, deduped frontier expansion",
            ),
            ("fetcher[expand]", "page:PageState", "state transition, guarded conditional update"),
        ],
    );
    assert_eq!(phrase(CRAWL, "fetcher[expand]"), "deduped frontier expansion");
}

const TAGS: &str = r#"
design Tags "Tags on contents"
actor user
subject Tag(tag: text) { truth TagState { label: text } }
subject Content(content: text) { truth ContentState { title: text = "" } }
subject Edge(content: Content, tag: Tag) { truth EdgeState { on: bool = true, by: actor } }
subject ByTag(tag: Tag, bucket: int, content: Content) { truth ByTagState { by: actor } }
step user[create_tag(tag: new Tag, label: text)] { TagState.label := label }
step user[attach(edge: new Edge)] { EdgeState.by := me }
step user[index(entry: new ByTag)] { ByTagState.by := me }
step user[detach(edge: Edge) { on: EdgeState.on }] { EdgeState.on := false }
view Popular = count Edge where on
"#;

#[test]
fn relations() {
    check(
        TAGS,
        &[
            ("user[create_tag]", "TagState", "create target, insert/create"),
            ("user[attach]", "EdgeState", "state transition, guarded add/remove"),
            ("user[index]", "ByTagState", "create target, bucketed relation index write"),
            ("user[detach]", "EdgeState", "state transition, guarded add/remove"),
            ("view Popular", "Popular", "overwrite, counter/projection update"),
        ],
    );
    assert_eq!(phrase(TAGS, "user[index]"), "bucketed relation index write");
    assert_eq!(phrase(TAGS, "user[attach]"), "relation edge, made at most once");
}

const AUCTION: &str = r#"
design Auction "Bids until it closes"
actor bidder
actor closer
subject Lot(lot: text) {
    truth LotState { status: OPEN | CLOSED = OPEN, ends_at: time? }
    truth BestState { amount: decimal = 0, bidder: actor? }
    truth WinnerState { winner: actor? }
    log Bids { amount: decimal, by: actor }
}
step closer[open(lot: new Lot, length: duration)] { LotState.ends_at := now + length }
step bidder[bid(lot: Lot, amount: decimal) { open: LotState.status = OPEN  higher: BestState.amount < amount }] {
    append Bids { amount: amount, by: me }
    BestState := { amount: amount, bidder: me }
}
repair closer[close(lot: Lot) { over: LotState.status = OPEN and LotState.ends_at < now }] {
    LotState.status := CLOSED
    WinnerState.winner := BestState.bidder
}
read bidder[best(lot: Lot)] = BestState
"#;

#[test]
fn auctions() {
    check(
        AUCTION,
        &[
            ("closer[open]", "LotState", "create target, create competitive window subject"),
            ("bidder[bid]", "Bids", "append, append competitive child event"),
            ("bidder[bid]", "BestState", "overwrite, guarded best-state update"),
            ("closer[close]", "LotState", "state transition, guarded close of competitive window"),
            (
                "closer[close]",
                "WinnerState",
                "create target or overwrite, commit competitive result",
            ),
            ("bidder[best]", "BestState", "read source on current best state"),
            ("bidder[bid] refused higher", "BestState", "fail competing hold"),
        ],
    );
}

const FILES: &str = r#"
design Files "Names that move from version to version"
actor user { head: int? of File }
subject Version(version: text) { truth VersionState { digest: text } }
subject File(file: text) {
    truth HeadState { current: Version?, number: int = 0 }
    truth NameState { name: text = "" }
}
step user[add_version(version: new Version, digest: text)] { VersionState.digest := digest }
step user[advance(file: File, version: Version) { current: HeadState.number = head }] {
    HeadState.current := version
    HeadState.number += 1
}
step user[rename(file: File, name: text)] { NameState.name := name }
read user[head_of(file: File)] = HeadState { head := HeadState.number }
view Find = search File on name
view Newest = rank File by number desc top 10
"#;

#[test]
fn namespaces() {
    check(
        FILES,
        &[
            ("user[add_version]", "VersionState", "create target, create immutable version node"),
            (
                "user[advance]",
                "HeadState",
                "state transition, move mutable head/pointer to new immutable version",
            ),
            (
                "user[rename]",
                "NameState",
                "overwrite/state transition, mutate namespace without mutating content",
            ),
            ("user[head_of]", "HeadState", "read source"),
            ("view Find", "Find", "overwrite, materialized view/index update"),
        ],
    );
    let derived = derive(&compiled(FILES));
    let rank = derived.iter().find(|d| d.name == "view Newest").unwrap();
    assert_eq!(rank.mechanism, Some(Mechanism::Ranking));
}

const EDGE: &str = r#"
design Edge "Copies near the reader"
actor proxy
actor owner
subject Page(page: text) {
    truth PageState { version: int = 0 }
    cache Copy at proxy { version: int = 0 }
    ephemeral Presence ttl 30s { last: actor?, cursor: int = 0 }
}
step owner[publish(page: Page)] { PageState.version += 1 }
step proxy[fill(page: Page) { missing: Copy absent }] { Copy := { version: PageState.version } }
step proxy[refresh(page: Page) { behind: Copy.version < PageState.version }] { Copy.version := PageState.version }
step proxy[ping(page: Page, cursor: int)] { Presence := { last: me, cursor: cursor } }
read proxy[serve(page: Page) { cached: Copy present }] = Copy
"#;

#[test]
fn caches_and_presence() {
    check(
        EDGE,
        &[
            ("proxy[fill]", "Copy", "create target/overwrite, cache fill"),
            ("proxy[refresh]", "Copy", "overwrite, refresh/reload"),
            ("proxy[serve]", "Copy", "read projection"),
            ("proxy[ping]", "Presence", "overwrite, update ephemeral collaborator state"),
        ],
    );
}

const SNAPSHOT: &str = r#"
design Config "A configuration and those who apply it"
actor admin { seen: int? of Config }
actor agent
subject Config(config: text) { truth ConfigState { value: text = "", version: int = 0 } }
subject Agent(agent: text) { truth AppliedState { value: text = "", version: int = 0 } }
step admin[put(config: Config, value: text) { current: ConfigState.version = seen }] {
    ConfigState.value := value
    ConfigState.version += 1
}
step agent[apply(agent: Agent, config: Config) { newer: AppliedState.version < ConfigState.version }] {
    AppliedState := { value: ConfigState.value, version: ConfigState.version }
}
read admin[get(config: Config)] = ConfigState { seen := ConfigState.version }
"#;

#[test]
fn snapshots_are_applied_forward_only() {
    let derived = derive(&compiled(SNAPSHOT));
    let apply = derived.iter().find(|d| d.name == "agent[apply]").unwrap();
    assert_eq!(apply.mechanism, Some(Mechanism::SnapshotPublication));
    assert_eq!(apply.phrase, "monotonic apply of a published version");
}
