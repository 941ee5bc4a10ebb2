import { design, me, signIn } from "/app/steadfast.js";

const scheduler = design("scheduler");
const find = (css) => document.querySelector(css);
const jobs = new Map();
const runs = new Map();
const attempts = new Map();

/** A record as it is now, from a list or the feed. */
function learn({ subject, key, truth }) {
  const known = { Job: jobs, Execution: runs, Attempt: attempts }[subject];
  if (!known) return;
  if (truth) known.set(key[0], Object.assign({}, ...Object.values(truth)));
  else known.delete(key[0]);
}

function say(text, bad = false) {
  find("#said").textContent = text;
  find("#said").classList.toggle("bad", bad);
}

const REFUSED = {
  "create_job.fresh": "There is a job of this name already. Choose another name.",
  "create_execution.exists": "There is no such job.",
  "create_execution.fresh": "This run is planned already.",
  "create_execution.yours": "This job is somebody else's: only its owner plans runs of it.",
  "cancel_execution.unclaimed": "Too late to call it off: a worker has this run, or it is over.",
  "cancel_execution.yours": "This run is somebody else's.",
  "claim_execution.ready": "Another worker was faster, or this run is over.",
  "claim_execution.due": "It is not time yet for the next try.",
  "execute.once": "The target was asked already in this try.",
  "complete_execution.executed": "The target has not said yet that it is done.",
  "fail_execution.nothing_done": "The target was asked: it may be doing the work, so this try cannot be given up.",
  exists: "This run is not there any more.",
  mine: "You do not have this run: your time is over, or you took it in another window.",
};

/** What an answer said to remember of a run proves in the next calls whose attempt it is. */
const KEPT = `scheduler.attempts.${me()}`;
const remembered = () => JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");

/** A step, and what came of it. What it changed is told by the feed, in order: a repair may follow sooner than the answer. */
async function step(actor, operation, params, done) {
  try {
    const answer = await scheduler.call(actor, operation, params);
    const mine = answer.memory.my_attempt_execution;
    if (mine) sessionStorage.setItem(KEPT, JSON.stringify({ ...remembered(), [params.schedule]: mine }));
    say(done);
    return true;
  } catch (error) {
    const field = error.problem?.pointer?.slice(1);
    const told = REFUSED[`${operation}.${error.guard}`] ?? REFUSED[error.guard];
    say(told ?? (field ? `${field}: ${error.message}` : error.message), true);
    return false;
  }
}

function work(operation, schedule, done, more = {}) {
  const mine = operation === "claim_execution" ? undefined : remembered()[schedule];
  return step("worker", operation, { schedule, ...more, ...(mine && { my_attempt_execution: mine }) }, done);
}

function element(name, text, more = {}) {
  const made = Object.assign(document.createElement(name), more);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** `of`: what the button is about, for those who do not see what it stands beside. */
function button(text, of, onclick, more = {}) {
  const made = element("button", text, { type: "button", onclick, ...more });
  made.ariaLabel = `${text}: ${of}`;
  made.dataset.at = made.ariaLabel;
  return made;
}

/** Puts new parts into a place. The focus stays on what it was on, or else near it. */
function put(place, parts) {
  const focused = place.contains(document.activeElement) ? document.activeElement : undefined;
  const card = focused?.closest("[data-of]")?.dataset.of;
  const at = focused?.dataset.at;
  place.replaceChildren(...parts);
  if (!focused || focused === place) return;
  const same = [...place.querySelectorAll("[data-at]")].find((one) => one.dataset.at === at);
  (same ?? (card && place.querySelector(`[data-of="${CSS.escape(card)}"] [data-at]`)) ?? place).focus();
}

function cards(list, none) {
  if (list.length === 0) return [element("p", none, { className: "faint" })];
  const all = element("ul", undefined, { className: "cards" });
  all.append(...list);
  return [all];
}

function left(iso) {
  const seconds = Math.round((Date.parse(iso) - Date.now()) / 1_000);
  if (seconds <= 0) return "now";
  if (seconds > 86_400) return `at ${new Date(iso).toLocaleString()}`;
  const two = (number) => String(number).padStart(2, "0");
  return `in ${Math.floor(seconds / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

const clock = (iso) => element("time", left(iso), { dateTime: iso });
const later = (run) => Date.parse(run.next_due_at) > Date.now();

/** How a run stands: what it looks like, and in words. */
function standing(run) {
  const tried = attempts.get(run.attempt_id)?.result;
  if (run.status === "ABSENT") return ["waits", "starts ", clock(run.next_due_at)];
  if (run.status === "READY" && later(run)) return ["waits", "is tried again ", clock(run.next_due_at)];
  if (run.status === "READY") return ["ready", "waits for a worker"];
  if (run.status === "CLAIMED") {
    const done = { ASKED: "; the target is asked", EXECUTED: "; the target has done it", REFUSED: "; the target refused" };
    return ["ready", `${run.worker} is at work${done[tried] ?? ""}; its time is over `, clock(run.expiry_at)];
  }
  if (run.status === "DONE") return ["done", "is done"];
  if (run.status === "FAILED") return ["failed", "failed: it was tried as often as its job says"];
  return ["waits", "is called off"];
}

const RESULTS = { NOTHING: "given up", REFUSED: "refused by the target", ASKED: "asked, no answer yet", EXECUTED: "done" };
const ORDER = Object.keys(RESULTS);

function tries(name, run) {
  const all = [...attempts].filter(([, one]) => one.schedule === name);
  if (all.length === 0) return "";
  all.sort(([, a], [, b]) => a.run - b.run || ORDER.indexOf(a.result) - ORDER.indexOf(b.result));
  const word = ([id, one]) => (id === run.attempt_id && one.result === "NOTHING" ? "under way" : RESULTS[one.result]);
  return `Tries so far: ${all.slice(-10).map((one) => `${word(one)} (run ${one[1].run})`).join(", ")}.`;
}

function runCard(name, run) {
  const [look, ...words] = standing(run);
  const card = element("li", undefined, { className: `card ${look}` });
  card.dataset.of = name;
  card.dataset.status = run.status;
  const told = element("span");
  told.append(...words);
  card.append(element("strong", name), told);
  if (run.rule) card.append(element("span", `then ${run.rule}`, { className: "faint" }));
  return card;
}

const ACTIVE = ["ABSENT", "READY", "CLAIMED"];
const byTime = ([, a], [, b]) => Date.parse(a.next_due_at) - Date.parse(b.next_due_at);

function drawRuns() {
  const mine = [...runs].filter(([, run]) => run.owner === me());
  const active = mine.filter(([, run]) => ACTIVE.includes(run.status)).sort(byTime);
  const over = mine.filter(([, run]) => !ACTIVE.includes(run.status)).sort(byTime).reverse().slice(0, 20);
  const list = [...active, ...over].map(([name, run]) => {
    const card = runCard(name, run);
    if (run.status === "ABSENT" || run.status === "READY") {
      const cancel = () => step("user", "cancel_execution", { schedule: name }, `${name} is called off.`);
      card.append(button("Call off", name, cancel));
    }
    const told = tries(name, run);
    if (told) card.append(element("span", told, { className: "faint tries" }));
    return card;
  });
  put(find("#runs"), cards(list, "None yet. Make a job, then plan a run of it."));
}

/** The job that is to be chosen as soon as it is there. */
let wanted;

function drawJobs() {
  const list = [...jobs].map(([name, job]) => {
    const card = element("li", undefined, { className: "card" });
    card.dataset.of = name;
    const whose = job.owner === me() ? "yours" : `of ${job.owner}`;
    card.append(element("strong", name), element("code", job.command));
    card.append(element("span", `${job.rule ?? "once"}, ${job.tries === 1 ? "1 try" : `${job.tries} tries`}, ${whose}`, { className: "faint" }));
    return card;
  });
  put(find("#jobs"), cards(list, "There are no jobs yet."));
  const mine = [...jobs].filter(([, job]) => job.owner === me()).map(([name]) => name);
  const choice = find("#plan select[name=job]");
  if (mine.includes(wanted) || mine.join() !== [...choice.options].map((one) => one.value).join()) {
    const chosen = choice.value;
    choice.replaceChildren(...mine.map((name) => element("option", name, { value: name })));
    choice.value = mine.includes(wanted) ? wanted : mine.includes(chosen) ? chosen : mine[0];
    if (mine.includes(wanted)) wanted = undefined;
  }
  find("#no-jobs").hidden = mine.length > 0;
}

function drawWork() {
  const ttl = () => ({ ttl: `${Math.max(1, Math.round(find("#ttl").valueAsNumber || 30))}s` });
  const list = [];
  for (const [name, run] of [...runs].sort(byTime)) {
    const card = runCard(name, run);
    const can = (text, operation, done, more = () => ({})) =>
      card.append(button(text, name, () => work(operation, name, done, more())));
    if (run.status === "READY" && !later(run)) {
      can("Take it", "claim_execution", `You have ${name}.`, ttl);
    } else if (run.status === "CLAIMED" && run.worker === me()) {
      const result = attempts.get(run.attempt_id)?.result ?? "NOTHING";
      can("Keep it", "mark_in_progress", `You keep ${name}.`, ttl);
      if (result === "NOTHING") can("Ask the target", "execute", `The target is asked to do ${name}.`);
      if (result === "EXECUTED") can("Report done", "complete_execution", `${name} is done.`);
      if (result === "NOTHING" || result === "REFUSED") can("Report failed", "fail_execution", `${name} was not done this time.`);
    } else continue;
    list.push(card);
  }
  put(find("#work"), cards(list, "No run waits for a worker."));
}

let drawing = false;
/** Once for all that changes within a frame. */
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    drawRuns();
    drawJobs();
    drawWork();
  });
}

const SIGN_IN = "Sign in with a token to see your runs.";
const LOST = "The connection is lost; trying again.";
const back = () => find("#said").textContent === LOST && say("");

/** What happened while the records are read: it is newer than they are, and comes after them. */
let pending = [];

function happened(transition) {
  if (pending) return pending.push(transition);
  back();
  transition.changes.forEach(learn);
  for (const { event, fields } of transition.events) {
    if (event === "ExecutionEnded" && fields.owner === me()) {
      say(`${fields.schedule}, run ${fields.run}: ${fields.done ? "done" : "failed"}.`, !fields.done);
    }
  }
  draw();
}

async function load() {
  pending = [];
  try {
    const all = await Promise.all(["Job", "Execution", "Attempt"].map((subject) => scheduler.list(subject)));
    for (const known of [jobs, runs, attempts]) known.clear();
    all.flat().forEach(learn);
    const missed = pending;
    pending = undefined;
    missed.forEach(happened);
    back();
    find("#runs").setAttribute("aria-busy", "false");
    draw();
  } catch (error) {
    const shut = error.status === 401 || error.status === 403;
    say(error.status === 401 ? SIGN_IN : error.message, true);
    if (!shut) setTimeout(load, 2_000);
  }
}

/** What is sent twice in a row, by a second click, is done once. */
function onSubmit(form, send) {
  let sending = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (sending) return;
    sending = true;
    await send(Object.fromEntries(new FormData(form)));
    sending = false;
  });
}

onSubmit(find("#job"), async ({ job, command, rule, tries }) => {
  const given = { job, command, rule: rule.trim() || null, tries: Number(tries) };
  if (!(await step("user", "create_job", given, `The job ${job} is made. Plan when it runs.`))) return;
  wanted = job;
  draw();
  find("#job [name=job]").value = "";
});

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

onSubmit(find("#plan"), ({ job, amount, unit }) => {
  // runs of one minute share a bucket of the index
  const bucket = new Date(Date.now() + amount * UNITS[unit]).toISOString().slice(0, 16);
  const execution = `${job}-${crypto.randomUUID().slice(0, 8)}`;
  return step("user", "create_execution", { execution, job, bucket, due_in: `${amount}${unit}` }, `A run of ${job} is planned.`);
});

signIn(find("#me"), scheduler);
scheduler.follow(happened, {
  ready: load,
  lost: (error) => error && say(error.status === 401 ? SIGN_IN : LOST, true),
});
// runs become due by the clock
let waiting = 0;
setInterval(() => {
  const now = [...runs.values()].filter(later).length;
  if (now !== waiting) draw();
  waiting = now;
  for (const time of document.querySelectorAll("time")) time.textContent = left(time.dateTime);
}, 1_000);
