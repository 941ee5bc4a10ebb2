import { caller, design, me, signIn } from "/app/steadfast.js";

const documents = design("documents");
const find = (css) => document.querySelector(css);
const NODE = "node1";
const SIGN_IN = "Sign in with a token to see documents.";

/** Records as they are now, each under its key. Of edits, versions and drafts only those of the document that is open. */
const known = { Document: new Map(), DocumentSession: new Map(), DocumentEdit: new Map(), SavedVersion: new Map(), Draft: new Map() };
const of = (subject, ...key) => known[subject].get(JSON.stringify(key));

function learn({ subject, key, truth }) {
  if (!known[subject]) return;
  if (!truth) return void known[subject].delete(JSON.stringify(key));
  // a snapshot has a title of its own
  const { DocumentSnapshotState, ...now } = truth;
  known[subject].set(JSON.stringify(key), { key, ...Object.assign({}, ...Object.values(now)) });
}

const opened = () => decodeURIComponent(location.hash.slice(1));
const session = (name, who = me()) => of("DocumentSession", name, who);
const letIn = (name, who = me()) => of("Document", name)?.owner === who || session(name, who)?.invited === true;
const edits = () => [...known.DocumentEdit.values()].filter((edit) => edit.key[0] === opened());
const placed = (before = Infinity) =>
  edits().filter((edit) => edit.place !== null && edit.place < before).sort((a, b) => a.place - b.place);

let heard = "0-0";
let loading = 0;
const meanwhile = [];

function isAfter(one, other) {
  const [[a, b], [c, d]] = [one, other].map((revision) => revision.split("-").map(Number));
  return a > c || (a === c && b > d);
}

/** What happens while records are read is learned after them. */
function hear(transition) {
  heard = transition.revision;
  if (loading) meanwhile.push(transition);
  else transition.changes.forEach(learn);
  draw();
}

const REFUSED = {
  "create.unowned": "A document of this name belongs to somebody already.",
  "invite.yours": "Only the owner lets others in.",
  "invite.apart": "They are in already, or it is you.",
  "submit_edit.may_write": "You may not write in this document. Its owner can let you in.",
  "submit_edit.current": "Another window of yours has moved on. Look at what is new, and try again.",
  "submit_edit.fresh": "This edit is there already.",
  "submit_edit.its_own": "This edit was made for another document.",
  "point_at.yours": "Nobody moves the cursor of somebody else.",
  "save_version.may_write": "Only those who are let in save versions.",
  "save_version.fresh": "A version of this name is there already, and stays as it was. Choose another name.",
  "saved_version.exists": "There is no such version.",
  "sequence_edit.undecided": "This edit has its place already, or was refused.",
  "sequence_edit.current": "Another coordinator was faster.",
  "checkpoint_document.newer": "There is nothing new since the last snapshot.",
  "watch_document.caught_up": "This node shows less than you have seen. Look again in a second.",
  "watch_document.exists": "The node is not there. Start it first.",
};

function say(text, bad = false) {
  find("#said").textContent = text;
  find("#said").classList.toggle("bad", bad);
}

/** What the server handed out for later steps: which version of a document this window has on the screen. */
const memory = {};

/** A step, what came of it, and its answer; an error is thrown on. */
async function call(actor, operation, params, remembered) {
  try {
    const answer = await documents.call(actor, operation, { ...params, ...remembered });
    // what the feed has told is not older than this answer
    if (isAfter(answer.revision, heard)) answer.truth.forEach(learn);
    return answer;
  } catch (error) {
    error.told = REFUSED[`${operation}.${error.guard}`] ?? error.message;
    throw error;
  } finally {
    draw();
  }
}

/** A step that a person takes: it is told how it went. */
async function step(actor, operation, params, done) {
  if (offline) return void say("You are offline. You can write; all else waits.", true);
  try {
    const answer = await call(actor, operation, params);
    if (done) say(typeof done === "function" ? done(answer) : done);
    return answer;
  } catch (error) {
    say(error.told, true);
  }
}

// --- writing, online and offline

const DRAFTS = "documents.drafts";
let offline = false;
/** Edits that this window has sent. */
const sent = new Set();

/** What was written on this device and is not known to have arrived. It outlives the page. */
const allDrafts = () => JSON.parse(localStorage.getItem(DRAFTS) ?? "[]");
const drafts = () => allDrafts().filter((draft) => draft.by === me());
const keep = (draft) => localStorage.setItem(DRAFTS, JSON.stringify([...allDrafts(), draft]));
const drop = (op) => localStorage.setItem(DRAFTS, JSON.stringify(allDrafts().filter((draft) => draft.op !== op)));

function device() {
  if (!localStorage.getItem("documents.device")) localStorage.setItem("documents.device", crypto.randomUUID());
  return localStorage.getItem("documents.device");
}

const load = async (name) => (memory[name] = (await call("collaborator", "load", { document: name })).memory);

async function submit({ document, op, kind, value }) {
  if (!memory[document]) await load(document);
  const params = { document, edit: [document, op], kind, value };
  sent.add(op);
  try {
    await call("collaborator", "submit_edit", params, memory[document]);
  } catch (error) {
    // a line fits anywhere; a title is for who sees the one that it replaces
    if (error.guard !== "current" || kind === "RENAME") throw error;
    await load(document);
    await call("collaborator", "submit_edit", params, memory[document]);
  }
}

async function write(kind, value) {
  const edit = { document: opened(), op: crypto.randomUUID(), kind, value, by: me() };
  if (!offline) {
    try {
      await submit(edit);
      say(kind === "ADD" ? "Your line is sent." : "Your title is sent.");
      return;
    } catch (error) {
      if (error.status !== undefined) {
        if (error.guard === "current") await load(edit.document).catch(() => {});
        return void say(error.told, true);
      }
      disconnect();
    }
  }
  keep({ ...edit, device: device() });
  say("It is kept on this device until you are back.");
  draw();
}

/** The drafts are sent under the names that they have, once or again: those that arrived already are not taken twice. */
async function sendDrafts() {
  for (const draft of drafts()) {
    if (of("DocumentEdit", draft.document, draft.op)) continue;
    const { document, op, device, kind, value } = draft;
    try {
      await call("collaborator", "write_offline", { draft: [document, op, device], kind, value }).catch((error) => {
        if (error.guard !== "fresh") throw error;
      });
      await submit(draft);
    } catch (error) {
      if (error.guard !== "fresh") say(error.told ?? error.message, true);
    }
  }
}

/** What was kept for the network and is known to have arrived is kept no longer. */
function settle() {
  for (const { document, op, device } of drafts()) {
    if (of("Draft", document, op, device)?.taken && of("DocumentEdit", document, op)?.status === "SEQUENCED") {
      drop(op);
      if (!drafts().length) say("All that you wrote offline is in the document.");
    }
  }
}

let catching = false;
/** What is on the screen is what the next edit is made for. */
async function catchUp() {
  const now = of("Document", opened());
  if (catching || offline || !loaded || !letIn(opened()) || placed().length < now.version) return;
  if ((session(opened())?.base_version ?? 0) === now.version && memory[opened()]) return;
  catching = true;
  try {
    if ((session(opened())?.base_version ?? 0) === now.version) await load(now.key[0]);
    else memory[now.key[0]] = (await call("collaborator", "rebase", { document: now.key[0] })).memory;
  } catch (error) {
    if (error.guard === "behind") await load(now.key[0]).catch(() => {});
  }
  catching = false;
  draw();
}

// --- the coordinator, for whom a person may stand in

async function order(edit) {
  const [document] = edit.key;
  const { memory: mine } = await call("coordinator", "recover", { document });
  try {
    await call("coordinator", "sequence_edit", { document, edit: edit.key }, mine);
  } catch (error) {
    if (error.guard === "apart") await call("coordinator", "refuse_edit_document", { edit: edit.key });
    else throw error;
  }
}

const pause = (ms) => new Promise((then) => setTimeout(then, ms));
let ordering = false;
async function orderAll() {
  if (ordering || offline || !find("#auto").checked || !edits().some((edit) => edit.status === "SUBMITTED")) return;
  ordering = true;
  for (let tries = 0; tries < 20 && !offline; tries++) {
    const waiting = (edit) => edit.status === "SUBMITTED";
    // other windows do the same: each first takes what it has sent itself
    if (!edits().some((edit) => waiting(edit) && sent.has(edit.key[1]))) await pause(700);
    const edit = edits().filter(waiting).sort((a, b) => sent.has(b.key[1]) - sent.has(a.key[1]))[0];
    if (!edit) break;
    try {
      await order(edit);
    } catch (error) {
      // another one was faster: the feed tells what it did
      if (error.status === 403) find("#auto").checked = false;
      if (error.status !== 409) break;
      await pause(300);
    }
  }
  ordering = false;
}

// --- what is shown

function element(name, text, more = {}, ...inside) {
  const made = Object.assign(document.createElement(name), more);
  if (text !== undefined) made.textContent = text;
  made.append(...inside);
  return made;
}

function button(key, text, onclick, more = {}) {
  const made = element("button", text, { type: "button", onclick, ...more });
  made.dataset.key = key;
  return made;
}

/** Puts parts in the place of others. What is the same stays, and what had the focus has it again. */
function put(place, ...parts) {
  const key = place.contains(document.activeElement) && document.activeElement.dataset.key;
  for (const [i, part] of parts.entries()) {
    if (!place.children[i]) place.append(part);
    else if (!place.children[i].isEqualNode(part)) place.children[i].replaceWith(part);
  }
  while (place.children.length > parts.length) place.lastElementChild.remove();
  if (key && !place.contains(document.activeElement)) [...place.querySelectorAll("[data-key]")].find((part) => part.dataset.key === key)?.focus();
}

let pointed;
async function point(at) {
  if (await step("collaborator", "point_at", { session: [opened(), me()], at }, `You point at line ${at}.`)) pointed = at;
  draw();
}

const titleOf = (list, name) => list.findLast((edit) => edit.kind === "RENAME")?.value || name;
const linesOf = (list) => list.filter((edit) => edit.kind === "ADD");

function state(edit, draft) {
  if (!edit) return offline ? "waits until you are online" : "is being sent";
  if (edit.status === "SUBMITTED") return "is sent, and waits for its place";
  if (edit.status === "SEQUENCED") return draft ? "is in the document; this device is told so soon" : "";
  const overlaps = edit.kind === "RENAME" && of("Document", edit.key[0]).title_at > edit.base;
  return overlaps ? "was refused: somebody changed the title, and you had not seen that" : "was refused: nobody came to it in time";
}

function onTheirWay() {
  const here = drafts().filter((draft) => draft.document === opened());
  const others = edits().filter((edit) => sent.has(edit.key[1]) && !here.some((draft) => draft.op === edit.key[1]));
  const rows = [
    ...here.map((draft) => ({ ...draft, text: state(of("DocumentEdit", draft.document, draft.op), true) })),
    ...others.map((edit) => ({ op: edit.key[1], kind: edit.kind, value: edit.value, text: state(edit, false) })),
  ].filter((row) => row.text);
  find("#way").hidden = !rows.length;
  put(find("#kept"), ...rows.map(({ op, kind, value, text }) => {
    const refused = of("DocumentEdit", opened(), op)?.status === "REFUSED";
    const row = element("li", undefined, {}, element("strong", kind === "ADD" ? value : `Title: ${value}`));
    row.append(element("span", text, { className: refused ? "bad" : "faint" }));
    const gone = () => (drop(op), sent.delete(op), draw());
    if (refused && !offline) row.append(button(`again ${op}`, "Send again", () => (gone(), write(kind, value))));
    if (refused) row.append(button(`away ${op}`, "Throw away", gone));
    return row;
  }));
}

function people(now) {
  const invited = [...known.DocumentSession.values()].filter(({ key }) => key[0] === now.key[0] && letIn(...key)).map(({ key }) => key[1]);
  put(find("#people"), ...[...new Set([now.owner, ...invited])].map((who) => {
    const behind = now.version - (session(now.key[0], who)?.base_version ?? 0);
    const seen = offline ? "is not seen while you are offline" : behind === 0 ? "has all of it on the screen" : `has not seen the last ${behind === 1 ? "edit" : `${behind} edits`}`;
    const name = element("strong", who === me() ? `${who} (you)` : who);
    return element("li", undefined, {}, name, element("span", `${who === now.owner ? "owner, " : ""}${seen}`, { className: behind || offline ? "faint" : "good" }));
  }));
  find("#invite").hidden = now.owner !== me();
}

function versions() {
  const saved = [...known.SavedVersion.values()].filter(({ key }) => key[0] === opened()).sort((a, b) => a.version - b.version);
  put(find("#versions"), ...saved.map(({ key, by, version, lines }) => element("li", undefined, {}, element("strong", key[1]),
    element("span", `version ${version}, ${count(lines)}, by ${by}`, { className: "faint" }),
    button(`show ${key[1]}`, "Show", () => show(key), { ariaLabel: `Show ${key[1]}` }))));
}

/** A version that was saved, with its lines: those that had their place by then. */
async function show(key) {
  const answer = await step("collaborator", "saved_version", { saved: key }, `This is ${key[1]}.`);
  if (!answer) return;
  const lines = linesOf(placed(answer.result.version)).map((edit) => element("li", edit.value));
  find("#old").hidden = false;
  find("#old").replaceChildren(element("h4", `${key[1]}: ${answer.result.title || key[0]}`), element("ol", undefined, {}, ...lines));
}

const count = (lines) => (lines === 1 ? "1 line" : `${lines} lines`);

let drawing = false;
/** Once for all that changes within a frame. */
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    settle();
    const mine = [...known.Document.values()].filter(({ key }) => letIn(key[0]));
    const link = ({ key, title, lines }) => {
      const made = element("a", title || key[0], { href: `#${encodeURIComponent(key[0])}`, className: "card" });
      made.dataset.key = key[0];
      made.ariaCurrent = String(key[0] === opened());
      made.append(element("small", ` ${count(lines)}`, { className: "faint" }));
      return element("li", undefined, {}, made);
    };
    put(find("#documents"), ...(mine.length ? mine.map(link) : [element("li", "You have no documents yet. Create one, or ask somebody to let you in.")]));
    const now = of("Document", opened());
    const inside = now !== undefined && letIn(opened());
    find("#document").hidden = !inside;
    find("#stranger").hidden = !opened() || inside || !loaded;
    find("#stranger").textContent = now?.owner
      ? `“${opened()}” belongs to ${now.owner}, who has not let you in as ${me()}. It opens here as soon as you are let in.`
      : `There is no document “${opened()}” for you. Create it, or ask its owner to let you in.`;
    if (!inside) return;
    const list = placed();
    const title = titleOf(list, opened());
    find("#title").textContent = title;
    const field = find("#rename input");
    if (document.activeElement !== field && field.value === (field.dataset.was ?? "")) field.value = title;
    field.dataset.was = title;
    find("#version").textContent = `version ${now.version}, ${count(now.lines)}, owned by ${now.owner}`;
    put(find("#lines"), ...linesOf(list).map((edit, i) => element("li", undefined, {},
      button(`line ${i}`, i + 1, () => point(i + 1), { ariaLabel: `Point at line ${i + 1}`, ariaPressed: String(pointed === i + 1), disabled: offline }),
      element("span", edit.value), element("small", edit.by, { className: "faint" }))));
    onTheirWay();
    people(now);
    versions();
    orderAll();
    catchUp();
  });
}

// --- being connected, and not

let end = () => {};
let loaded = false;

async function loadAll() {
  loading++;
  try {
    const name = opened();
    const some = name ? ["DocumentEdit", "DocumentSession", "SavedVersion", "Draft"].map((subject) => documents.list(subject, { document: name })) : [];
    const lists = await Promise.all([documents.list("Document"), documents.list("DocumentSession", { who: me() }), ...some]);
    if (name !== opened() || offline) return;
    Object.values(known).forEach((records) => records.clear());
    lists.flat().forEach(learn);
    find("#documents").ariaBusy = "false";
    // drafts were made for what was on the screen then, so they go before what is new
    await sendDrafts();
    loaded = true;
  } catch (error) {
    say(error.status === 401 ? SIGN_IN : error.message, true);
  } finally {
    if (--loading === 0) meanwhile.splice(0).forEach((transition) => transition.changes.forEach(learn));
    draw();
  }
}

function connect() {
  offline = false;
  document.body.classList.remove("offline");
  Object.assign(find("#net"), { textContent: "Go offline", ariaPressed: "false" });
  end = documents.follow(hear, {
    // nothing is missed from here on: what is read now is brought up to date by what follows
    ready: loadAll,
    lost: (error) => error && say(error.status === 401 ? SIGN_IN : "The connection is lost; trying again.", true),
  });
}

function disconnect() {
  offline = true;
  loaded = false;
  end();
  document.body.classList.add("offline");
  Object.assign(find("#net"), { textContent: "Go online", ariaPressed: "true" });
  say("You are offline. What you write is kept on this device.");
  draw();
}

find("#net").addEventListener("click", async () => {
  if (offline) {
    say("You are online.");
    return connect();
  }
  if (pointed) await step("collaborator", "leave", { session: [opened(), me()] });
  pointed = undefined;
  disconnect();
});
addEventListener("offline", disconnect);
addEventListener("online", () => offline && connect());
addEventListener("hashchange", () => {
  pointed = undefined;
  loaded = false;
  find("#old").hidden = true;
  delete find("#rename input").dataset.was;
  find("#rename").reset();
  if (offline) draw();
  else loadAll();
});

const onSubmit = (css, then) => find(css).addEventListener("submit", (event) => {
  event.preventDefault();
  then(Object.fromEntries(new FormData(event.target, event.submitter)), event.target);
});
onSubmit("#open", async ({ document, how }, form) => {
  if (how !== "open" && !(await step("collaborator", "create", { document }, `“${document}” is yours.`))) return;
  location.hash = encodeURIComponent(document);
  form.reset();
});
onSubmit("#add", ({ value }, form) => (form.reset(), write("ADD", value)));
onSubmit("#rename", ({ value }) => write("RENAME", value));
onSubmit("#invite", async ({ who }, form) => (await step("collaborator", "invite", { document: opened(), who }, `${who} is let in.`)) && form.reset());
onSubmit("#save", async ({ name }, form) => (await step("collaborator", "save_version", { saved: [opened(), name] }, `Saved as ${name}.`)) && form.reset());

find("#auto").checked = !caller().token;
find("#auto").addEventListener("change", draw);
const onClick = (css, then) => find(css).addEventListener("click", then);
onClick("#checkpoint", () => step("coordinator", "checkpoint_document", { document: opened() }, "The snapshot is taken."));
const told = ({ result }) => `${result.title || "No title"}, ${count(result.lines)}, the last: ${result.last || "none"}.`;
onClick("#snapshot", () => step("viewer", "snapshot_document", { document: opened() }, (answer) => `The snapshot: ${told(answer)}`));
onClick("#attach", () => step("session_service", "attach_document", { document: opened(), node: NODE }, "The node is started, and asks for what there is."));
onClick("#watch", () => step("viewer", "watch_document", { document: opened(), replica: [opened(), NODE] }, (answer) => `The node shows: ${told(answer)}`));

signIn(find("#me"), documents);
connect();
