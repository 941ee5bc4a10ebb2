import { caller, design, me, signIn } from "/app/steadfast.js";

const crawler = design("crawler");
const find = (css) => document.querySelector(css);
const KNOWN = {};
for (const subject of ["Site", "Page", "PageRun", "PageMeta", "RawHtml", "ParsedText"]) KNOWN[subject] = new Map();
const { Site: sites, PageRun: runs } = KNOWN;

const at = (...key) => JSON.stringify(key);
const of = (subject, key) => KNOWN[subject].get(JSON.stringify(key));

/** A record as it is now, from a list or the feed. */
function learn({ subject, key, truth }) {
  if (truth) KNOWN[subject]?.set(JSON.stringify(key), Object.assign({ key }, ...Object.values(truth)));
  else KNOWN[subject]?.delete(JSON.stringify(key));
}

function say(text, bad = false) {
  find("#said").textContent = text;
  find("#said").classList.toggle("bad", bad);
}

const REFUSED = {
  "add_url.unknown": "This page is known already.",
  "claim_run.none_left": "No page of this site waits now: all are done, or somebody has them.",
  "claim_run.open": "All pages that are known of this site are done.",
  "claim_run.free": "Another worker was faster. Take the next one.",
  "claim_run.uncovered": "This page is done already.",
  "claim_run.queued": "This page waits for nobody now. Take the next one.",
  "claim_run.its_own": "This page is not one of this site.",
  "mark_fetching.its_own": "This page is not one of this site.",
  "mark_fetching.open": "Robots are not let in to this site.",
  "mark_fetching.polite": "The site was visited just now. Wait until its pause is over.",
  "store_raw.fresh": "What came of this page is stored already.",
  "store_text.fresh": "The text of this page is stored already.",
  "mark_fetched.its_own": "Links to other sites are not followed.",
  "mark_fetched.raw_is_stored": "Store what came of the page first.",
  "mark_parsed.children": "The pages that it links to are not all known yet. Try again in a moment.",
  "mark_parsed.text_is_stored": "Store the text of the page first.",
  "release_fetch.put_down": "Only who has fetched a page hands it over. Keep it, or let your time run out.",
  "checkpoint.no_gap": "Pages before this one are not done yet.",
  "checkpoint.done": "This page is not done yet.",
  arrived: "The content did not arrive. Store it again.",
  fetched: "This page is not fetched yet.",
  mine: "You do not have this page any more: your time was over, or it was handed over.",
  unfetched: "This page is fetched already.",
  exists: "This is not there any more.",
};

/** Until when I have a run, as an answer said to remember it; sent with the next calls about this run. */
const KEPT = `crawler.runs.${me()}`;
const remembered = () => JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");

/** A step, and what came of it. What it changed is told by the feed, in order. */
async function step(actor, operation, params, done) {
  try {
    const answer = await crawler.call(actor, operation, params);
    const batch = answer.result?.batch ?? params.batch;
    const until = answer.memory.my_until_site;
    if (until !== undefined) sessionStorage.setItem(KEPT, JSON.stringify({ ...remembered(), [at(...batch)]: until }));
    draw();
    say(typeof done === "function" ? done(answer.result) : done);
    return answer;
  } catch (error) {
    const field = error.problem?.pointer?.slice(1);
    const told = REFUSED[`${operation}.${error.guard}`] ?? REFUSED[error.guard];
    say(told ?? (field ? `${field}: ${error.message}` : error.message), true);
    return undefined;
  }
}

function headers() {
  const { as, token } = caller();
  return token ? { authorization: `Bearer ${token}` } : as ? { "steadfast-as": as } : {};
}

/** Content is stored first; a step then refers to it by its digest. */
async function stored(text) {
  const sent = { ...headers(), "content-type": "application/octet-stream" };
  const response = await fetch("/v1/crawler/blobs", { method: "POST", headers: sent, body: new Blob([text]) });
  const told = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(told.detail ?? told.title ?? `the server answers ${response.status}`);
  return told.digest;
}

async function read(key) {
  try {
    const response = await fetch(`/v1/crawler/blobs/${of("ParsedText", key).content}`, { headers: headers() });
    if (!response.ok) throw new Error("The text cannot be read now.");
    find("#text pre").textContent = await response.text();
    find("#text-of").textContent = `Text of ${key[1]}`;
    find("#text").hidden = false;
    find("#text").focus();
  } catch (error) {
    say(error.message, true);
  }
}

function element(name, text, more = {}) {
  const made = Object.assign(document.createElement(name), more);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** `about`: what the button is about, for those who do not see what it stands beside. */
function button(text, about, onclick) {
  const made = element("button", text, { type: "button", onclick, ariaLabel: `${text}: ${about}` });
  made.dataset.at = made.ariaLabel;
  return made;
}

/** Puts new parts into a place. The focus stays on what it was on, or else near it. */
function put(place, parts) {
  const focused = place.contains(document.activeElement) ? document.activeElement : undefined;
  const about = focused?.closest("[data-of]")?.dataset.of;
  place.replaceChildren(...parts);
  if (!focused || focused === place) return;
  const same = [...place.querySelectorAll("[data-at]")].find((one) => one.dataset.at === focused.dataset.at);
  (same ?? (about && place.querySelector(`[data-of="${CSS.escape(about)}"] [data-at]`)) ?? place).focus();
}

function left(iso) {
  const seconds = Math.max(0, Math.ceil((Date.parse(iso) - Date.now()) / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

const clock = (iso) => element("time", left(iso), { dateTime: iso });
const later = (iso) => iso && Date.parse(iso) > Date.now();

/** How a page stands, in words. */
function standing(run) {
  const told = element("span");
  const fetching = run.stage === "FETCH";
  if (run.batch_done) Object.assign(told, { textContent: "done", className: "good" });
  else if (run.owner_id && later(run.expiry_at)) {
    told.append(`${run.owner_id === me() ? "you have" : `${run.owner_id} has`} it to ${fetching ? "fetch" : "parse"}, for `, clock(run.expiry_at));
  } else Object.assign(told, { textContent: fetching ? "waits to be fetched" : "is fetched, waits to be parsed", className: "faint" });
  return told;
}

const order = new Intl.Collator(undefined, { numeric: true }).compare;
const inOrder = () => [...runs.values()].filter((run) => run.item).sort((a, b) => order(a.key[0], b.key[0]) || a.key[1] - b.key[1]);

function siteCard(name, site) {
  const card = element("div", undefined, { className: "card site" });
  const [covered, all] = [site.covered_cursor, site.high_watermark_cursor];
  card.append(element("h2", name), element("progress", undefined, { max: all || 1, value: covered, ariaLabel: `Covered of ${name}` }));
  const rules = element("p", `${covered} of ${all} pages are covered. `, { className: "faint" });
  rules.append(site.closed ? "Robots are not let in." : `A visit every ${site.delay} at most.`);
  if (!site.closed && later(site.next_visit_at)) rules.append(" The next one in ", clock(site.next_visit_at), ".");
  const list = element("ul", undefined, { className: "pages" });
  for (const run of inOrder().filter((one) => one.key[0] === name)) {
    const line = element("li");
    line.dataset.of = at(...run.item);
    line.append(element("strong", run.item[1]), standing(run));
    const links = of("Page", run.item)?.links.length;
    if (links) line.append(element("span", links === 1 ? "1 link" : `${links} links`, { className: "faint" }));
    if (of("ParsedText", run.item)) line.append(button("Read", run.item[1], () => read(run.item)));
    list.append(line);
  }
  card.append(rules, list);
  return card;
}

function drawSites() {
  const cards = [...sites.values()].sort((a, b) => order(a.key[0], b.key[0])).map((site) => siteCard(site.key[0], site));
  put(find("#sites"), cards.length ? cards : [element("p", "There are no sites yet. Add the first page of one.", { className: "faint" })]);
  for (const [css, names] of [
    ["#known", [...sites.values()]],
    ["#take select", [...sites.values()].filter((site) => site.covered_cursor < site.high_watermark_cursor)],
  ]) {
    const place = find(css);
    const all = names.map((site) => site.key[0]);
    if (at(...all) === at(...[...place.children].map((one) => one.value))) continue;
    const chosen = place.value;
    place.replaceChildren(...all.map((name) => element("option", name, { value: name })));
    if (all.includes(chosen)) place.value = chosen;
  }
}

/** The steps that a worker can take with a run as it stands. */
function steps(run) {
  const [site] = run.key;
  const page = run.item[1];
  const worker = (operation, more, done) => {
    const until = remembered()[at(...run.key)];
    return step("worker", operation, { batch: run.key, ...more, ...(until && { my_until_site: until }) }, done);
  };
  const store = async (operation, done) => {
    try {
      await worker(operation, { content: await stored(find("#content").value) }, done);
    } catch (error) {
      say(error.message, true);
    }
  };
  const links = () => find("#links").value.split("\n").map((line) => line.trim()).filter(Boolean).map((link) => [site, link]);
  if (run.batch_done) {
    const next = run.key[1] === sites.get(at(site))?.covered_cursor;
    return next ? [["Cover it", () => worker("checkpoint", {}, `${page} is covered.`)]] : [];
  }
  if (run.owner_id !== me() || !later(run.expiry_at)) return [];
  const keep = ["Keep it", () => worker("renew_site", { ttl: `${find("#take [name=ttl]").valueAsNumber || 60}s` }, `You keep ${page}.`)];
  if (run.stage === "FETCH") {
    const begin = ["Begin the visit", () => worker("mark_fetching", { site }, `You may ask for ${page} now.`)];
    if (!of("RawHtml", run.item)) return [begin, ["Store what came", () => store("store_raw", `What came of ${page} is stored.`)], keep];
    return [["It is fetched", () => worker("mark_fetched", { links: links() }, `${page} is fetched.`)], keep];
  }
  // who has fetched has put the page down; who took it to parse it has not
  const fetchedByMe = !remembered()[at(...run.key)];
  const hand = fetchedByMe ? [["Hand it over", () => worker("release_fetch", {}, `${page} waits for a parser.`)]] : [];
  if (!of("ParsedText", run.item)) return [["Store its text", () => store("store_text", `The text of ${page} is stored.`)], ...hand, keep];
  return [["It is parsed", () => worker("mark_parsed", {}, `${page} is done.`)], ...hand, keep];
}

function drawWork() {
  const cards = [];
  for (const run of inOrder()) {
    const can = steps(run);
    if (can.length === 0) continue;
    const card = element("li", undefined, { className: "card" });
    card.dataset.of = at(...run.item);
    card.append(element("strong", `${run.key[0]} ${run.item[1]}`), standing(run));
    card.append(...can.map(([text, onclick]) => button(text, run.item[1], onclick)));
    cards.push(card);
  }
  const list = element("ul", undefined, { className: "cards" });
  list.append(...cards);
  put(find("#work"), cards.length ? [list] : [element("p", "You have no page now.", { className: "faint" })]);
}

let drawing = false;
/** Once for all that changes within a frame. */
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    drawSites();
    drawWork();
  });
}

const SIGN_IN = "Sign in with a token to see the sites.";
const LOST = "The connection is lost; trying again.";
const back = () => find("#said").textContent === LOST && say("");
/** What happened while the records are read: it is newer than they are, and comes after them. */
let pending = [];

function happened(transition) {
  if (pending) return pending.push(transition);
  back();
  transition.changes.forEach(learn);
  draw();
}

async function load() {
  pending = [];
  try {
    const all = await Promise.all(Object.keys(KNOWN).map((subject) => crawler.list(subject)));
    for (const known of Object.values(KNOWN)) known.clear();
    all.flat().forEach(learn);
    const missed = pending;
    pending = undefined;
    missed.forEach(happened);
    back();
    find("#sites").setAttribute("aria-busy", "false");
    draw();
  } catch (error) {
    const shut = error.status === 401 || error.status === 403;
    say(error.status === 401 ? SIGN_IN : error.message, true);
    if (!shut) setTimeout(load, 2_000);
  }
}

/** What is sent twice in a row, by a second click, is done once. */
function onSubmit(css, send) {
  let sending = false;
  find(css).addEventListener("submit", async (event) => {
    event.preventDefault();
    if (sending) return;
    sending = true;
    await send(Object.fromEntries(new FormData(event.target)));
    sending = false;
  });
}

onSubmit("#add", async ({ site, page }) => {
  const added = await step("scanner", "add_url", { item: [site, page] }, `${page} of ${site} is added.`);
  if (added) find("#add [name=page]").value = "";
});
onSubmit("#robots", ({ site, delay, closed }) => {
  const done = closed ? `Robots stay out of ${site}.` : `${site} is visited every ${delay} seconds at most.`;
  return step("operator", "set_robots", { site, closed: closed === "on", delay: `${delay}s` }, done);
});
onSubmit("#take", ({ site, ttl }) =>
  step("frontier_manager", "claim_run", { scan: site, ttl: `${ttl}s` }, ({ batch }) => `You have ${of("PageRun", batch)?.item?.[1] ?? "a page"}.`));

signIn(find("#me"), crawler);
crawler.follow(happened, {
  ready: load,
  lost: (error) => error && say(error.status === 401 ? SIGN_IN : LOST, true),
});
// claims and pauses are over by the clock
let running = 0;
setInterval(() => {
  const now = [...runs.values()].filter((run) => later(run.expiry_at)).length + [...sites.values()].filter((site) => later(site.next_visit_at)).length;
  if (now !== running) draw();
  running = now;
  for (const time of document.querySelectorAll("time")) time.textContent = left(time.dateTime);
}, 1_000);
