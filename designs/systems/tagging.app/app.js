import { design, me, signIn } from "/app/steadfast.js";

const tagging = design("tagging");
const find = (css) => document.querySelector(css);
const tags = new Map();
const names = new Map();
const contents = new Map();
const edges = new Map();
const indexes = new Map();
const KNOWN = { Tag: tags, TagName: names, Content: contents, ContentTag: edges, TagIndex: indexes };

/** A record as it is now, from a list or the feed. */
function learn({ subject, key, truth }) {
  const at = JSON.stringify(key);
  if (truth) KNOWN[subject]?.set(at, Object.assign({ key }, ...Object.values(truth)));
  else KNOWN[subject]?.delete(at);
}

const at = (...key) => JSON.stringify(key);
const label = (tag) => tags.get(at(tag))?.label || tag;
const active = () => [...tags.values()].filter((tag) => tag.status === "ACTIVE");

function say(text, bad = false) {
  find("#said").textContent = text;
  find("#said").classList.toggle("bad", bad);
}

const REFUSED = {
  "create_tag.fresh": "There is a tag of this name already.",
  "create_tag.unused": "This tag has a name already.",
  "rename_tag.active": "This tag is retired: it keeps its label.",
  "retire_tag.active": "This tag is retired already.",
  "open_content.unowned": "Somebody has added this content already.",
  "attach_tag.yours": "This content is somebody else's: only its publisher puts tags on it.",
  "attach_tag.active": "This tag is retired, and is not used any more.",
  "attach_tag.absent": "The content has this tag already.",
  "detach_tag.yours": "This content is somebody else's: only its publisher takes tags off it.",
  "detach_tag.there": "The content does not have this tag any more.",
  "tag_named.exists": "No tag has this name.",
  exists: "This is not there any more.",
};

/** A step, and what came of it. What it changed is told by the feed, in order. */
async function step(actor, operation, params, done) {
  try {
    const answer = await tagging.call(actor, operation, params);
    say(done);
    return answer;
  } catch (error) {
    const field = error.problem?.pointer?.slice(1);
    const told = REFUSED[`${operation}.${error.guard}`] ?? REFUSED[error.guard];
    say(told ?? (field ? `${field}: ${error.message}` : error.message), true);
    return undefined;
  }
}

function element(name, text, more = {}) {
  const made = Object.assign(document.createElement(name), more);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Puts new parts into a place. The focus stays on what it was on, or else near it. */
function put(place, parts) {
  const focused = place.contains(document.activeElement) ? document.activeElement : undefined;
  place.replaceChildren(...parts);
  if (!focused || focused === place) return;
  const same = [...place.querySelectorAll("button")].find((one) => one.dataset.at === focused.dataset.at);
  (same ?? place).focus();
}

function list(className, items, none) {
  if (items.length === 0) return element("p", none, { className: "faint" });
  const all = element("ul", undefined, { className });
  all.append(...items);
  return all;
}

/** What may be chosen; what is chosen stays so. */
function choices(css, all) {
  const choice = find(css);
  const said = (options) => JSON.stringify(options);
  if (said(all) === said([...choice.options].map((one) => [one.value, one.textContent]))) return;
  const chosen = choice.value;
  choice.replaceChildren(...all.map(([value, text]) => element("option", text, { value })));
  if (all.some(([value]) => value === chosen)) choice.value = chosen;
}

let chosen;

function drawTags() {
  const items = [...tags.values()].filter((tag) => tag.status !== "NONE").map((tag) => {
    const [key] = tag.key;
    const button = element("button", label(key), { type: "button", onclick: () => choose(key) });
    button.dataset.at = key;
    button.ariaPressed = String(chosen === key);
    if (tag.status === "RETIRED") {
      button.className = "retired";
      button.ariaLabel = `${label(key)}, retired`;
    }
    const item = element("li");
    item.append(button);
    return item;
  });
  put(find("#tags"), [list("tags", items, "There are no tags yet. An admin makes them below.")]);
}

function drawMine() {
  const mine = [...contents.values()].filter((one) => one.owner === me()).map((one) => one.key[0]);
  const cards = mine.map((content) => {
    const card = element("li", undefined, { className: "card" });
    card.dataset.of = content;
    card.append(element("strong", content));
    const on = [...edges.values()].filter((edge) => edge.key[0] === content && edge.attached);
    if (on.length === 0) card.append(element("span", "has no tags", { className: "faint" }));
    for (const { key: [, tag] } of on) {
      const off = () => step("publisher", "detach_tag", { edge: [content, tag] }, `${label(tag)} is taken off ${content}.`);
      const button = element("button", `Take off ${label(tag)}`, { type: "button", onclick: off });
      button.ariaLabel = `Take off ${label(tag)} from ${content}`;
      button.dataset.at = at(content, tag);
      card.append(button);
    }
    return card;
  });
  put(find("#mine"), [list("cards", cards, "You have none yet. Add some below.")]);
  choices("#attach [name=content]", mine.map((content) => [content, content]));
}

function hours(stretches) {
  const table = element("table");
  table.setAttribute("aria-labelledby", "used");
  const most = Math.max(...stretches.map((one) => one.count));
  for (const { start, count } of stretches) {
    const line = table.insertRow();
    const hour = new Date(start).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    line.append(element("th", hour, { scope: "row" }));
    line.insertCell().append(String(count));
    line.insertCell().append(element("meter", undefined, { max: most, value: count, ariaLabel: `${count} of ${most}` }));
  }
  return table;
}

let asking = 0;

/** What has the chosen tag, read from the views, no older than this revision. */
async function drawChosen(revision) {
  const tag = chosen;
  if (tag === undefined) return;
  const turn = ++asking;
  try {
    const asked = { tag, at_least: revision };
    const [found, used] = await Promise.all([
      tagging.view("ContentByTag", asked),
      tagging.view("TagPopularityView", asked),
    ]);
    // asked again meanwhile: that answer is the newer one
    if (turn !== asking) return;
    find("#chosen").hidden = false;
    find("#chosen-name").textContent = label(tag);
    const counts = [...indexes.values()].filter((index) => index.key[0] === tag);
    const items = found.rows.map(({ key }) => element("li", key.at(-1)));
    find("#content").replaceChildren(
      list("", items, "Nothing has this tag."),
      ...counts.map((index) => element("p", `The node ${index.key[1]} counts ${index.count}.`, { className: "faint" })),
    );
    find("#hours").replaceChildren(used.stretches.length ? hours(used.stretches) : element("p", "It was not put on anything.", { className: "faint" }));
  } catch (error) {
    say(error.message, true);
  }
}

function choose(tag) {
  chosen = tag;
  draw();
}

let drawing = false;
let latest;
/** Once for all that changes within a frame. */
function draw(revision) {
  latest = revision ?? latest;
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    drawTags();
    drawMine();
    drawChosen(latest);
    const usable = active().map(({ key: [tag] }) => [tag, label(tag)]);
    for (const form of ["attach", "rename", "retire", "index"]) choices(`#${form} [name=tag]`, usable);
  });
}

const SIGN_IN = "Sign in with a token to see the tags.";
const LOST = "The connection is lost; trying again.";
const back = () => find("#said").textContent === LOST && say("");
/** What happened while the records are read: it is newer than they are, and comes after them. */
let pending = [];

function happened(transition) {
  if (pending) return pending.push(transition);
  back();
  transition.changes.forEach(learn);
  draw(transition.revision);
}

async function load() {
  pending = [];
  try {
    const all = await Promise.all(Object.keys(KNOWN).map((subject) => tagging.list(subject)));
    for (const known of Object.values(KNOWN)) known.clear();
    all.flat().forEach(learn);
    const missed = pending;
    pending = undefined;
    missed.forEach(happened);
    back();
    find("#tags").setAttribute("aria-busy", "false");
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
    const done = await send(Object.fromEntries(new FormData(event.target)));
    sending = false;
    if (done) for (const field of event.target.querySelectorAll("input")) field.value = field.defaultValue;
  });
}

/** A content is always in the same one of eight buckets. */
async function bucketOf(content) {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(content));
  return `b${new Uint8Array(hash)[0] % 8}`;
}

onSubmit("#find", async ({ name }) => {
  const answer = await step("reader", "tag_named", { name }, `This is the tag ${name}.`);
  if (answer) choose(answer.result.tag);
  return answer;
});
onSubmit("#open", async ({ content }) => step("publisher", "open_content", { content, bucket: await bucketOf(content) }, `${content} is yours.`));
onSubmit("#attach", ({ content, tag }) => step("publisher", "attach_tag", { edge: [content, tag] }, `${content} has the tag ${label(tag)}.`));
onSubmit("#create", ({ name, label }) => step("admin", "create_tag", { name, tag: crypto.randomUUID(), label }, `The tag ${label} is made.`));
onSubmit("#rename", ({ tag, label }) => step("admin", "rename_tag", { tag, label }, `The tag is called ${label} now.`));
onSubmit("#retire", ({ tag }) => step("admin", "retire_tag", { tag }, `${label(tag)} is retired. Within about a minute it is taken off all content.`));
onSubmit("#index", ({ tag, node }) => step("projector", "add_index_tag", { tag, node }, `The node ${node} counts ${label(tag)} from its next change on.`));

signIn(find("#me"), tagging);
tagging.follow(happened, {
  ready: load,
  lost: (error) => error && say(error.status === 401 ? SIGN_IN : LOST, true),
});
