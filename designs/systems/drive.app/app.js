import { caller, design, me, signIn } from "/app/steadfast.js";

const drive = design("drive");
const find = (css) => document.querySelector(css);
const CHUNK = 65_536;
const MOST_CHUNKS = 256;
/** So many devices are told of a new file each second. */
const SLOTS = 10;
const SIGN_IN = "Sign in with a token to see files.";

/** Records as they are now, each under its key. Of versions only those of the file that is open, until others change. */
const known = { File: new Map(), FileShare: new Map(), FileReplica: new Map(), FileVersion: new Map(), FileMade: new Map(), Entry: new Map(), Upload: new Map() };
const of = (subject, ...key) => known[subject].get(JSON.stringify(key));
const all = (subject, ...key) => [...known[subject].values()].filter((record) => key.every((part, i) => record.key[i] === part));

function learn({ subject, key, truth }) {
  if (!truth) known[subject]?.delete(JSON.stringify(key));
  else known[subject]?.set(JSON.stringify(key), { key, ...Object.assign({}, ...Object.values(truth)) });
}

const opened = () => decodeURIComponent(location.hash.slice(1));
const device = () => sessionStorage.getItem("drive.device") ?? `${me()}-laptop`;
const copyOf = (file) => of("FileReplica", file, device());
/** What has no version yet is shown to those on whose device it is. */
function isMine({ key: [file], owner }) {
  return owner === me() || of("FileShare", file, me())?.shared === true || (!owner && all("FileReplica", file).some((copy) => copy.owner === me()));
}

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
  "start_upload.some": "An upload has at least one chunk.",
  "upload_chunk.arrived": "A chunk did not arrive. Try again.",
  "finish_upload.arrived": "The list of chunks did not arrive. Try again.",
  "finish_upload.whole": "A chunk is missing. Choose the same file again to go on.",
  "give_up.exists": "This upload is over.",
  "open_replica_file.unowned": "A device of this name has the file already. Give this device another name.",
  "edit_file.yours": "This copy is somebody else's. Give this device another name.",
  "edit_file.clean": "The last edit of this device is still being synced. Wait a moment.",
  "open_file.yours": "This copy is somebody else's.",
  "open_file.here": "There is no copy on this device: it was not sent yet, or was taken back.",
  "download.allowed": "This file is not shared with you.",
  "version_of_file.allowed": "This file is not shared with you.",
  "rename_file.allowed": "This file is not shared with you.",
  "share_file.yours": "Only the owner shares a file.",
  "share_file.other": "It is yours already.",
  "share_file.another": "It is shared with them already.",
  "revoke_file.yours": "Only the owner takes it back.",
  "revoke_file.shared": "It is not shared with them.",
  "resolve_file.allowed": "This file is not shared with you.",
  "resolve_file.open": "Somebody has settled this already.",
  "create_entry.fresh": "There is something else in this place. Choose another one.",
  "move.fresh": "There is something else in this place. Choose another one.",
  "move.yours": "Who put the file there moves it.",
};

function say(text, bad = false) {
  find("#said").textContent = text;
  find("#said").classList.toggle("bad", bad);
}

/** A step, and what came of it; an error is thrown on. */
async function call(actor, operation, params) {
  try {
    const answer = await drive.call(actor, operation, params);
    // what the feed has told is not older than this answer
    if (isAfter(answer.revision, heard)) answer.truth.forEach(learn);
    return answer;
  } catch (error) {
    error.told = REFUSED[`${operation}.${error.guard}`];
    throw error;
  } finally {
    draw();
  }
}

/** Whatever a person does: it is told how it went. */
async function doing(work, done) {
  try {
    const made = await work();
    if (done) say(typeof done === "function" ? done(made) : done);
    return true;
  } catch (error) {
    say(error.told ?? error.message, true);
    return false;
  }
}
const step = (actor, operation, params, done) => doing(() => call(actor, operation, params), done);

/** True: done; false: one of these guards refused it, which is as good. */
async function unless(guards, actor, operation, params) {
  try {
    await call(actor, operation, params);
    return true;
  } catch (error) {
    if (!guards.includes(error.guard)) throw error;
    return false;
  }
}

// --- content

async function blobs(path, more = {}) {
  const { as, token } = caller();
  const who = token ? { authorization: `Bearer ${token}` } : as ? { "steadfast-as": as } : {};
  const response = await fetch(`/v1/drive/blobs${path}`, { ...more, headers: { ...who, "content-type": "application/octet-stream" } });
  if (!response.ok) throw new Error((await response.json().catch(() => ({}))).detail ?? `The server answers ${response.status}.`);
  return response;
}
const store = async (body) => (await (await blobs("", { method: "POST", body })).json()).digest;

/** The server names content; which name it gave is remembered under a hash that the browser knows. */
const names = JSON.parse(localStorage.getItem("drive.names") ?? "{}");

async function hashOf(part) {
  if (!crypto.subtle) return undefined;
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await part.arrayBuffer()));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const isThere = (chunk) => unless(["exists"], "sync_client", "has_chunk", { chunk });

/** Sends what is not there of a file. What is stored as content is the list of its chunks, in their order. */
async function upload(file) {
  const parts = [];
  // a file without content has one empty chunk
  for (let at = 0; at === 0 || at < file.size; at += CHUNK) parts.push(file.slice(at, at + CHUNK));
  if (parts.length > MOST_CHUNKS) throw new Error("A file has at most 16 MiB.");
  const chunks = [];
  const missing = new Set();
  let bytes = 0;
  for (const [i, part] of parts.entries()) {
    say(`Chunk ${i + 1} of ${parts.length}…`);
    const hash = await hashOf(part);
    let name = names[hash];
    if (!name || !(chunks.includes(name) || (await isThere(name)))) {
      name = await store(part);
      bytes += part.size;
      if (hash) names[hash] = name;
      if (!(await isThere(name))) missing.add(name);
    }
    chunks.push(name);
  }
  localStorage.setItem("drive.names", JSON.stringify(names));
  const blob = await store(JSON.stringify({ type: file.type, size: file.size, chunks }));
  // another device may have begun this upload, or finished it
  const begun = await unless(["fresh", "unknown"], "sync_client", "start_upload", { upload: blob, chunks: [...new Set(chunks)] });
  for (const chunk of missing) await unless(["fresh"], "sync_client", "upload_chunk", { chunk });
  const { result } = await call("sync_client", "fingerprint", { blob });
  if (begun || !result.present) await unless(["absent"], "sync_client", "finish_upload", { blob });
  const sent = new Set(chunks.filter((chunk) => missing.has(chunk))).size;
  const told = `${chunks.length === 1 ? "1 chunk" : `${chunks.length} chunks`}: ${sent} new, ${bytes.toLocaleString()} bytes sent.`;
  return { blob, told };
}

/** The bytes that a content stands for, put together again. */
async function bytesOf(blob) {
  const content = await (await blobs(`/${blob}`)).blob();
  let list;
  try {
    list = JSON.parse(await content.text());
  } catch {
    return content;
  }
  if (!Array.isArray(list?.chunks)) return content;
  const parts = [];
  for (const chunk of list.chunks) parts.push(await (await blobs(`/${chunk}`)).blob());
  return new Blob(parts, { type: list.type });
}

async function saveAs(name, blob) {
  const bytes = await bytesOf(blob);
  const address = URL.createObjectURL(bytes);
  element("a", undefined, { href: address, download: name.split("/").at(-1) }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  return bytes.size;
}

const titleOf = (file) => of("File", file)?.title || all("Entry").find((entry) => entry.file === file)?.at || "without a name";
const saved = (size) => `${titleOf(opened())}: ${size.toLocaleString()} bytes.`;

/** One version: who may look is told what it consists of. */
const getVersion = (version) => doing(async () => {
  const { result } = await call("user", "version_of_file", { version });
  return saveAs(titleOf(version[0]), result.blob ?? result.FileVersionState?.blob);
}, saved);

// --- what is shown

function element(name, text, more = {}, ...inside) {
  const made = Object.assign(document.createElement(name), more);
  if (text !== undefined) made.textContent = text;
  made.append(...inside);
  return made;
}

function button(key, text, label, onclick) {
  const made = element("button", text, { type: "button", ariaLabel: `${text} ${label}`, onclick });
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

/** What a field says follows the record, unless somebody writes in it. */
function fill(css, value) {
  const field = find(css);
  if (document.activeElement !== field && field.value === (field.dataset.was ?? "")) field.value = value;
  field.dataset.was = value;
}

/** How the copy of this device stands to the newest version, in words. */
function words(file, copy) {
  if (!copy) return `It is not kept on ${device()}.`;
  if (copy.owner !== me()) return `There is a device “${device()}” of somebody else. Give this one another name.`;
  const behind = copy.cursor < file.number;
  const has = copy.cursor ? `${device()} has version ${copy.cursor}.` : `${device()} has no copy yet.`;
  if (copy.pending) {
    const edit = of("FileVersion", file.key[0], device(), copy.edit);
    if (edit?.status === "COMMITTED") return `Your edit is version ${edit.number}. ${device()} is told so within 30 seconds.`;
    if (edit?.status === "CONFLICT") return `Your edit came too late, and is kept below. ${device()} is told so within 30 seconds.`;
    return `${has} Your edit is kept here, and sent within 10 seconds.`;
  }
  if (!behind) return copy.cursor ? `${device()} has version ${copy.cursor}, the newest.` : has;
  return `${has} Version ${file.number} comes within 30 seconds. What you send before that is too late, and is kept beside it.`;
}

function list() {
  const order = new Intl.Collator(undefined, { numeric: true }).compare;
  const files = all("File").filter(isMine).sort((a, b) => order(titleOf(a.key[0]), titleOf(b.key[0])));
  put(find("#files"), ...(files.length ? files.map(({ key: [file], owner, number }) => {
    const made = element("a", titleOf(file), { href: `#${encodeURIComponent(file)}`, className: "card", ariaCurrent: String(file === opened()) });
    made.dataset.key = file;
    const at = all("Entry").filter((entry) => entry.file === file).map((entry) => entry.at).join(", ");
    const whose = owner && owner !== me() ? `, shared by ${owner}` : "";
    made.append(element("small", `${number ? `version ${number}` : "no version yet"}${at ? `, at ${at}` : ""}${whose}`, { className: "faint" }));
    return element("li", undefined, {}, made);
  }) : [element("li", "You have no files yet.")]));
  find("#unfinished").hidden = !known.Upload.size || busy;
  put(find("#uploads"), ...all("Upload").map(({ key: [upload], chunks }) => element("li", `${upload.slice(0, 8)}…, ${chunks.length === 1 ? "1 chunk" : `${chunks.length} chunks`}`, {},
    button(upload, "Give up", upload.slice(0, 8), () => step("sync_client", "give_up", { upload }, "The upload is given up.")))));
}

function versionRow(version, ...buttons) {
  const [file, client, edit] = version.key;
  const made = of("FileMade", file, client, edit)?.at;
  const what = version.status === "COMMITTED" ? `Version ${version.number}` : `Edit ${edit} upon version ${version.made_from}`;
  return element("li", undefined, {}, element("strong", what),
    element("span", `from ${client}${made ? `, ${new Date(made).toLocaleString()}` : ""}`, { className: "faint" }),
    button(`get ${version.key}`, "Download", `${what} from ${client}`, () => getVersion(version.key)), ...buttons);
}

const myEntry = (file) => all("Entry").find((entry) => entry.file === file && entry.by === me());

let busy = false;
let drawing = false;
/** Once for all that changes within a frame. */
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    list();
    const file = of("File", opened());
    const inside = file !== undefined && isMine(file);
    find("#file").hidden = !inside;
    find("#stranger").hidden = !opened() || inside || find("#files").ariaBusy === "true";
    if (!inside) return;
    const copy = copyOf(opened());
    const mine = copy?.owner === me();
    find("#title").textContent = titleOf(opened());
    find("#about").textContent = file.number ? `Version ${file.number}, owned by ${file.owner}.` : "Its first version is on its way.";
    find("#download").disabled = !file.number;
    find("#copy").textContent = words(file, copy);
    find("#keep").hidden = copy !== undefined;
    find("#look").hidden = !mine || !copy.copy;
    find("#edit").hidden = !mine;
    find("#edit button").disabled = busy || !!copy?.pending;
    find("#new button").disabled = busy;
    const versions = all("FileVersion", opened());
    put(find("#versions"), ...versions.filter((version) => version.status === "COMMITTED").sort((a, b) => b.number - a.number).map((version) => versionRow(version)));
    const late = versions.filter((version) => version.state === "OPEN");
    find("#conflicting").hidden = !late.length;
    put(find("#conflicts"), ...late.map((version) => {
      const label = `edit ${version.key[2]} from ${version.key[1]}`;
      const again = button(`again ${version.key}`, "Send again", label, () => edit(opened(), version.blob, "It is sent again as the newest version."));
      again.disabled = !mine || !!copy.pending || copy.cursor < file.number;
      return versionRow(version, again, button(`done ${version.key}`, "Settled", label, () => step("user", "resolve_file", { version: version.key }, "It is settled.")));
    }));
    fill("#turn input", String(file.slots));
    fill("#rename input", file.title);
    fill("#move input", myEntry(opened())?.at ?? "");
    find("#move button").textContent = myEntry(opened()) ? "Move" : "Put it there";
    find("#sharing").hidden = file.owner !== me();
    put(find("#shares"), ...all("FileShare", opened()).filter((share) => share.shared).map(({ key: [file, who] }) => element("li", who, {},
      button(who, "Take back", `from ${who}`, () => step("user", "revoke_file", { file, who }, `${who} does not see it any more.`)))));
  });
}

async function load() {
  loading++;
  try {
    const file = opened();
    const some = file ? [drive.list("FileVersion", { file })] : [];
    // when a version was made, places and uploads are shown to those who may see them
    const more = ["FileMade", "Entry", "Upload"].map((subject) => drive.list(subject).catch((error) => (error.status === 403 ? [] : Promise.reject(error))));
    const lists = await Promise.all([...["File", "FileShare", "FileReplica"].map((subject) => drive.list(subject)), ...more, ...some]);
    if (file !== opened()) return;
    Object.values(known).forEach((records) => records.clear());
    lists.flat().forEach(learn);
    find("#files").ariaBusy = "false";
  } catch (error) {
    say(error.status === 401 ? SIGN_IN : error.message, true);
  } finally {
    if (--loading === 0) meanwhile.splice(0).forEach((transition) => transition.changes.forEach(learn));
    draw();
  }
}

// --- what a person does

const edit = (file, blob, done) => step("user", "edit_file", { replica: [file, device()], blob }, done);

function putAt(file, place) {
  const entry = myEntry(file);
  return entry
    ? step("organizer", "move", { entry: entry.key[0], to: place }, `It is at ${place} now.`)
    : step("organizer", "create_entry", { entry: crypto.randomUUID(), file, place }, `It is at ${place} now.`);
}

const onSubmit = (css, then) => find(css).addEventListener("submit", async (event) => {
  event.preventDefault();
  busy = true;
  draw();
  await then(Object.fromEntries(new FormData(event.target)), event.target);
  busy = false;
  draw();
});
onSubmit("#new", async ({ content, place }, form) => {
  const file = crypto.randomUUID();
  let told;
  const done = await doing(async () => {
    const { blob, told: how } = await upload(content);
    told = how;
    // two devices that ask in the same second would take the one turn from each other
    if (!caller().token) await call("metadata_service", "resize_file", { file, slots: SLOTS });
    await call("user", "open_replica_file", { replica: [file, device()] });
    await call("user", "rename_file", { file, path: content.name });
    await call("user", "edit_file", { replica: [file, device()], blob });
    location.hash = file;
  });
  if (done && (await putAt(file, place || content.name))) say(`${content.name} is uploaded. ${told}`);
  if (done) form.reset();
});
onSubmit("#edit", ({ content }, form) => doing(async () => {
  const { blob, told } = await upload(content);
  await call("user", "edit_file", { replica: [opened(), device()], blob });
  form.reset();
  return told;
}, (told) => `The new version is on this device. ${told}`));
onSubmit("#rename", ({ path }) => step("user", "rename_file", { file: opened(), path }, `It is called ${path} now.`));
onSubmit("#move", ({ to }) => putAt(opened(), to));
onSubmit("#share", async ({ who }, form) => (await step("user", "share_file", { file: opened(), who }, `${who} sees it now.`)) && form.reset());

onSubmit("#turn", ({ slots }) => step("metadata_service", "resize_file", { file: opened(), slots: Number(slots) }, `${slots} devices are told each second.`));

const onClick = (css, then) => find(css).addEventListener("click", then);
onClick("#keep", () => step("user", "open_replica_file", { replica: [opened(), device()] }, "It is sent to this device within 30 seconds."));
onClick("#look", () => doing(async () => {
  const { result } = await call("user", "open_file", { replica: [opened(), device()] });
  return saveAs(titleOf(opened()), result.copy);
}, saved));
onClick("#download", () => doing(async () => {
  const { result } = await call("user", "download", { file: opened() });
  const [version] = await drive.list("FileVersion", { file: opened(), number: result.number });
  return saveAs(titleOf(opened()), version.truth.FileVersionState.blob);
}, saved));

addEventListener("hashchange", () => {
  for (const css of ["#rename", "#move", "#share", "#edit", "#turn"]) find(css).reset();
  for (const field of document.querySelectorAll("#file input")) delete field.dataset.was;
  load();
});
find("#device input").value = device();
find("#device").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("drive.device", find("#device input").value);
  say(`This device is ${device()}.`);
  draw();
});

signIn(find("#me"), drive);
drive.follow(hear, {
  // nothing is missed from here on: what is read now is brought up to date by what follows
  ready: load,
  lost: (error) => error && say(error.status === 401 ? SIGN_IN : "The connection is lost; trying again.", true),
});
