import { design, me, signIn } from "/app/steadfast.js";

const clinic = design("clinic");
const find = (css) => document.querySelector(css);
const SUBJECTS = ["Slot", "Visit", "FeeRequest", "DutyMember", "ReminderSchedule", "NoticeWorkflow"];
const known = Object.fromEntries(SUBJECTS.map((subject) => [subject, new Map()]));
const receipts = new Map();

/** A record as it is now, from a list or the feed; what the caller may not see of it is missing. */
function learn({ subject, key, truth }) {
  if (!known[subject]) return;
  if (truth) known[subject].set(key.join("/"), Object.assign({ key }, ...Object.values(truth)));
  else known[subject].delete(key.join("/"));
}

const REFUSED = {
  hold_slot: { free: "Somebody else has this time." },
  confirm_slot: {
    paid: "The visit is not paid yet: the bank has not said yes, and the desk has not noted that you are insured.",
    live: "The hold was over before you confirmed.",
  },
  bill: { payer: "Somebody else pays this fee.", unused: "This fee pays for another visit.", open: "This visit is no longer held." },
  start_fee: { open: "This fee is under way, uncertain or over already. It is not paid twice." },
  cancel_fee: { idle: "It is too late to call this fee off: it is under way, uncertain or over." },
  void_fee: { unsure: "This fee is not uncertain: only what nobody knows the outcome of can be void." },
  receipt_of_fee: { paid: "There is no receipt: this fee is not paid." },
  add_slot: { fresh: "There is such a time already." },
  plan_reminder: { due: "Only a confirmed visit is reminded of.", unplanned: "A reminder of this visit is planned already." },
  schedule_reminder: { idle: "This reminder is planned already.", current: "Somebody else has just changed this reminder." },
  cancel_reminder: { unclaimed: "There is no reminder waiting; what a worker has taken is not called off." },
  plan_receipt: { settled: "This fee is not paid.", unsent: "A receipt for this fee is planned already." },
  start_workflow_notice: { idle: "This receipt is on its way already.", current: "Somebody else has just changed this receipt." },
  register_duty: { current: "Somebody else has just come or gone. Try again.", fresh: "You are on duty there already, perhaps on another page." },
  heartbeat_duty: { yours: "You have been away for too long and are no longer on duty.", same_life: "You are on duty from another page." },
  leave_duty: { yours: "You have been away for too long and are no longer on duty.", same_life: "You are on duty from another page." },
  on_duty: { exists: "This doctor is not on duty." },
};
const ANY = {
  yours: "This is somebody else's.", open: "This visit is no longer held.",
  exists: "There is nothing with this number.", fresh: "This number is taken. Try again.",
};

function why(error, operation) {
  if (error.guard) return REFUSED[operation]?.[error.guard] ?? ANY[error.guard] ?? error.message;
  if (error.status === 401) return "Sign in with a token to use the clinic.";
  if (error.status === 403) return "You have not been given the role that this needs.";
  return error.status ? error.message : "The server does not answer. It is not known whether this was done; see below.";
}

/** Whether the last that was said is that the server is away. */
let away = false;
function say(text, bad = false) {
  away = false;
  find("#said").textContent = text;
  find("#said").classList.toggle("bad", bad);
}

const KEPT = `clinic.memory.${me()}`;
const memory = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");

/** A step, and what came of it: its answer, or nothing. What it changed comes by the feed, in order. What it hands out to
 *  remember `about` a record goes with the later steps about it. */
async function step(actor, operation, params, done, { about, but } = {}) {
  try {
    const answer = await clinic.call(actor, operation, { ...params, ...memory[about] });
    if (about && Object.keys(answer.memory).length) {
      memory[about] = { ...memory[about], ...answer.memory };
      sessionStorage.setItem(KEPT, JSON.stringify(memory));
    }
    if (done) say(done);
    return answer;
  } catch (error) {
    if (but && error.guard === but) return {};
    say(why(error, operation), true);
    return undefined;
  }
}

const some = () => crypto.randomUUID().slice(0, 4);
const minutes = (ms) => `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1_000) % 60).padStart(2, "0")}`;
const left = (slot) => Math.max(0, Date.parse(slot?.expires_at) - Date.now() || 0);
/** A hold that is over holds nothing, whether or not the worker has come. */
const over = (slot) => slot.status === "HELD" && left(slot) === 0;

/** What a person may do with a record, by the name of its button. */
const acts = {
  confirm: (booking) => step("patient", "confirm_slot", { booking }, "Your visit is confirmed."),
  cancel: (booking) => step("patient", "cancel_slot", { booking }, "The time is given back."),
  pay: (visit) => step("patient", "start_fee", { request: known.Visit.get(visit).fee, transaction: crypto.randomUUID() }, "The bank is asked."),
  callOff: (visit) => step("patient", "cancel_fee", { request: known.Visit.get(visit).fee }, "The fee is called off."),
  async check(visit) {
    const answer = await step("patient", "request_status_fee", { request: known.Visit.get(visit).fee });
    if (answer) say(paid(answer.result));
  },
  async paper(visit) {
    const { fee } = known.Visit.get(visit);
    const answer = await step("patient", "receipt_of_fee", { request: fee }, "The receipt is there.");
    if (answer) receipts.set(fee, answer.result);
    draw();
  },
  async bill(visit, form) {
    const given = Object.fromEntries(new FormData(form));
    const unused = [...known.FeeRequest].find(([, one]) => one.owner === me() && one.status === "CREATED" && one.pays_for === null &&
      Number(one.amount) === Number(given.amount) && one.currency === given.currency);
    const request = unused?.[0] ?? `fee-${visit}-${some()}`;
    if (!unused && !(await step("patient", "create_request_fee", { request, ...given }))) return;
    await step("patient", "bill", { visit, request }, "The fee is written down. Nothing is paid yet.");
  },
  async ask(name) {
    const answer = await step("patient", "on_duty", { member: known.DutyMember.get(name).key });
    if (answer) say(`${known.DutyMember.get(name)?.key[1]} ${THERE[answer.result.status]}.`);
  },
  insure: (visit) => step("desk", "insure", { visit }, "It is noted that the patient is insured."),
  voidFee: (request) => step("desk", "void_fee", { request }, "The fee is void. If the bank took it, it is given back."),
  async remind(visit) {
    if (!(await step("desk", "plan_reminder", { visit, schedule: `${visit}-reminder` }))) return;
    await acts.schedule(visit);
  },
  async schedule(visit) {
    const [schedule, about] = [`${visit}-reminder`, `${visit}-reminder`];
    if (!(await step("desk", "progress_reminder", { schedule }, undefined, { about }))) return;
    const params = { schedule, bucket: "reminders", due_in: find("#due").value, rule: null, tries: 3 };
    await step("desk", "schedule_reminder", params, "The reminder is planned.", { about });
  },
  unremind: (visit) => step("desk", "cancel_reminder", { schedule: `${visit}-reminder` }, "The reminder is called off."),
  async receipt(request) {
    const [workflow, input] = [`${request}-receipt`, `receipt for ${request}`];
    if (!(await step("desk", "create_workflow_notice", { workflow, input }, undefined, { but: "fresh" }))) return;
    if (await step("desk", "plan_receipt", { request, workflow })) await acts.send(workflow);
  },
  async send(workflow) {
    const seen = await step("desk", "workflow_status_notice", { workflow }, undefined, { about: workflow });
    if (seen) await step("desk", "start_workflow_notice", { workflow, input: seen.result.input }, "The receipt is to be sent.", { about: workflow });
  },
  leave: (name) => step("doctor", "leave_duty", { member: known.DutyMember.get(name).key }, "You are off duty.", { about: name }),
};

const THERE = { ALIVE: "is there", SUSPECT: "has not been heard of for a while", DEAD: "is gone" };

/** What is known of a fee, in a sentence. */
function paid(fee) {
  const of = `The fee of ${fee.amount} ${fee.currency}`;
  switch (fee.status) {
    case "CREATED": return `${of} is not paid yet.`;
    case "PROCESSING": return `${of} is under way: the bank was asked, and its answer is awaited.`;
    case "UNKNOWN": return `${of} is uncertain: the bank did not answer, so nobody knows whether it took the money. It is asked again ` +
      "until it answers, and takes it at most once. Do not pay in another way.";
    case "SUCCEEDED": return `${of} is paid.`;
    case "FAILED": return `The bank declined the fee of ${fee.amount} ${fee.currency}, and took nothing.`;
    case "CANCELLED": return `${of} was called off.`;
    default: return `${of} is void: it costs nothing. If the bank took the money, it is given back.`;
  }
}

function visitCard([key, visit]) {
  const slot = known.Slot.get(visit.item);
  const fee = known.FeeRequest.get(visit.fee);
  const card = { key, title: visit.item, note: `visit ${key}`, text: fee ? paid(fee) : "", acts: [] };
  if (visit.insured && !fee) card.text = "You are insured: there is nothing to pay.";
  const paper = receipts.get(visit.fee);
  if (paper) card.text += ` Receipt: ${paper.amount} ${paper.currency}, payment ${paper.transaction}.`;
  const held = visit.status === "IN_PROGRESS" && slot?.booking === key && !over(slot);
  if (held) {
    Object.assign(card, { word: "held for ", left: true, kind: "open" });
    if (visit.insured || fee) card.acts.push(["Confirm the visit", "confirm", visit.insured || fee?.status === "SUCCEEDED"]);
    card.form = !visit.insured && (!fee || ["CANCELLED", "VOIDED"].includes(fee.status));
  } else {
    card.word = visit.status === "CONFIRMED" ? "confirmed" : visit.status === "CANCELLED" ? "given back" : "run out";
    card.kind = visit.status === "CONFIRMED" ? "good" : "";
  }
  if (["CREATED", "FAILED"].includes(fee?.status)) {
    if (held) card.acts.push([fee.status === "FAILED" ? "Try to pay again" : `Pay ${fee.amount} ${fee.currency}`, "pay", true]);
    card.acts.push(["Call off the fee", "callOff"]);
  }
  if (["PROCESSING", "UNKNOWN"].includes(fee?.status)) card.acts.push(["Check the payment", "check"]);
  if (fee?.status === "SUCCEEDED") card.acts.push(["Receipt", "paper"]);
  if (held) card.acts.push(["Give the time back", "cancel"]);
  return card;
}

function todo() {
  const cards = [];
  for (const [key, { item, holder, status, ...visit }] of known.Visit) {
    const card = { key, title: `Visit ${key}`, note: item && `${item}, ${holder}` };
    const schedule = known.ReminderSchedule.get(visit.reminder);
    if (status === "IN_PROGRESS" && !visit.insured) cards.push({ ...card, word: "held", acts: [["Insured", "insure"]] });
    else if (visit.reminder_due && !visit.reminder) cards.push({ ...card, word: "reminder owed", acts: [["Plan reminder", "remind", true]] });
    else if (visit.reminder && (!schedule?.version || ["CANCELLED", "FAILED"].includes(schedule.status))) cards.push({ ...card, word: "no reminder waits", acts: [["Plan reminder", "schedule", true]] });
    else if (["ABSENT", "READY"].includes(schedule?.status)) {
      const when = new Date(schedule.next_due_at).toLocaleString();
      cards.push({ ...card, word: "reminder waits", text: `It is due ${when}.`, acts: [["Call off reminder", "unremind"]] });
    }
  }
  for (const [key, fee] of known.FeeRequest) {
    const card = { key, title: `Fee ${key}`, note: `${fee.amount} ${fee.currency}, ${fee.owner}`, text: paid(fee) };
    if (fee.status === "UNKNOWN") cards.push({ ...card, word: "uncertain", kind: "open", acts: [["Void fee", "voidFee"]] });
    if (fee.status === "SUCCEEDED" && !fee.receipt) cards.push({ ...card, word: "no receipt yet", acts: [["Send receipt", "receipt", true]] });
  }
  for (const [key, { state }] of known.NoticeWorkflow) {
    const word = { CREATED: "not sent yet", FAILED: "refused by the post" }[state];
    if (word) cards.push({ key, title: key, word, acts: [["Send it", "send", true]] });
  }
  return cards;
}

function element(name, text, more = {}) {
  const made = Object.assign(document.createElement(name), more);
  if (text !== undefined) made.textContent = text;
  return made;
}

function made(card) {
  const item = element("li", undefined, { className: `card ${card.kind ?? ""}`, tabIndex: -1 });
  Object.assign(item.dataset, { key: card.key, look: JSON.stringify(card) });
  const row = element("div", undefined, { className: "row" });
  const word = element("strong", card.word, { className: "word" });
  if (card.left) word.append(element("span", undefined, { className: "left" }));
  row.append(element("h3", card.title), word);
  if (card.note) row.append(element("span", card.note, { className: "faint" }));
  item.append(row);
  if (card.text) item.append(element("p", card.text));
  if (card.form) {
    const form = element("form", undefined, { className: "fields actions" });
    const field = (name, text, more) => {
      const label = element("label", `${text} `);
      label.append(element("input", undefined, { name, required: true, ...more }));
      return label;
    };
    form.append(field("amount", "Fee", { type: "number", min: "0.01", max: "1000000", step: "0.01", value: "40" }),
      field("currency", "Currency", { value: "EUR", pattern: "[A-Z]{3}", maxLength: 3, size: 4, title: "three capital letters" }),
      element("button", "Write down the fee", { className: "main" }));
    form.addEventListener("submit", (event) => (event.preventDefault(), acts.bill(card.key, form)));
    item.append(form);
  }
  const buttons = element("div", undefined, { className: "actions" });
  for (const [text, act, main] of card.acts) {
    const button = element("button", text, { type: "button", className: main ? "main" : "", onclick: () => acts[act](card.key) });
    button.dataset.act = act;
    button.setAttribute("aria-label", `${text}: ${card.title}`);
    buttons.append(button);
  }
  if (card.acts.length) item.append(buttons);
  return item;
}

/** Puts cards into a list. One that looks as before stays as it is, with what is typed in it; the focus stays on its button, or
 *  at least on its card. */
function put(place, cards, none) {
  const list = find(place);
  const before = new Map([...list.children].map((item) => [item.dataset.look, item]));
  const focused = list.contains(document.activeElement) ? document.activeElement : undefined;
  const { key } = focused?.closest("[data-key]").dataset ?? {};
  const items = cards.map((card) => before.get(JSON.stringify(card)) ?? made(card));
  if (items.length !== list.children.length || items.some((item, i) => item !== list.children[i])) {
    list.replaceChildren(...items);
    const now = key !== undefined && items.find((item) => item.dataset.key === key);
    if (focused?.isConnected) focused.focus();
    else if (now) (now.querySelector(`[data-act="${focused.dataset.act}"]`) ?? now).focus();
  }
  if (none) find(none).hidden = cards.length > 0;
}

const order = new Intl.Collator(undefined, { numeric: true }).compare;
function times() {
  const sections = new Map();
  for (const [name, slot] of [...known.Slot].sort(([a], [b]) => order(a, b))) {
    sections.set(slot.section, [...(sections.get(slot.section) ?? []), [name, slot]]);
  }
  const parts = [];
  for (const [section, slots] of [...sections].sort(([a], [b]) => order(a, b))) {
    const grid = element("ul", undefined, { className: "times" });
    for (const [name, slot] of slots) {
      const mine = !over(slot) && known.Visit.get(slot.booking)?.holder === me();
      const free = slot.status === "AVAILABLE" || over(slot);
      const hold = () => step("patient", "hold_slot", { slot: name, booking: `${name}-${some()}`, ttl: find("#ttl").value }, `${name} is held for you.`);
      const button = element("button", name, { type: "button", disabled: !free, className: mine ? "mine" : "", onclick: hold });
      button.dataset.slot = name;
      button.append(element("small", mine ? "yours" : free ? "free" : slot.status === "HELD" ? "held" : "taken"));
      const item = element("li");
      item.append(button);
      grid.append(item);
    }
    parts.push(element("h3", section), grid);
  }
  if (parts.length === 0) parts.push(element("p", "There are no times yet. The desk adds them below.", { className: "faint" }));
  const focused = document.activeElement?.dataset?.slot;
  find("#times").replaceChildren(...parts);
  if (focused) find(`#times [data-slot="${CSS.escape(focused)}"]`)?.focus();
}

function tick() {
  for (const place of document.querySelectorAll("#visits .left")) {
    place.textContent = minutes(left(known.Slot.get(known.Visit.get(place.closest("[data-key]").dataset.key)?.item)));
  }
}

let drawing = false;
/** Once for all that changes within a frame. */
function draw() {
  if (drawing || waiting) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    const rank = ([, { status }]) => ["IN_PROGRESS", "CONFIRMED", "EXPIRED", "CANCELLED"].indexOf(status);
    const mine = [...known.Visit].filter(([, { holder }]) => holder === me());
    put("#visits", mine.sort((a, b) => rank(a) - rank(b) || order(a[0], b[0])).map(visitCard), "#none");
    times();
    tick();
    const members = [...known.DutyMember].filter(([, { status }]) => status);
    put("#doctors", members.map(([key, { key: [group, name], status }]) =>
      ({ key, title: name, note: group, word: THERE[status], kind: status === "ALIVE" ? "good" : "", acts: [["Ask", "ask"]] })), "#nobody");
    put("#own", members.filter(([, one]) => one.key[1] === me() && memory[one.key.join("/")])
      .map(([key]) => ({ key, title: key, word: "you are on duty", kind: "good", acts: [["Leave", "leave"]] })));
    put("#todo", todo(), "#done");
  });
}

/** What happens while the records are read; it may be newer than what is read. */
let waiting;
async function load() {
  if (waiting) return;
  waiting = [];
  try {
    const read = await Promise.all(SUBJECTS.map((subject) => clinic.list(subject)));
    for (const subject of SUBJECTS) known[subject].clear();
    [...read.flat(), ...waiting].forEach(learn);
    waiting = undefined;
    if (away) say("");
    find("#times").setAttribute("aria-busy", "false");
    draw();
  } catch (error) {
    waiting = undefined;
    say(why(error), true);
    away = true;
    if (error.status !== 401 && error.status !== 403) setTimeout(load, 2_000);
  }
}

find("#add").addEventListener("submit", async (event) => {
  event.preventDefault();
  const given = Object.fromEntries(new FormData(event.target));
  await step("desk", "add_slot", given, `${given.slot} is there.`);
});
find("#by").addEventListener("submit", (event) => {
  event.preventDefault();
  acts[event.submitter.value](new FormData(event.target).get("key").trim());
});
find("#register").addEventListener("submit", async (event) => {
  event.preventDefault();
  const group = new FormData(event.target).get("group").trim();
  const about = `${group}/${me()}`;
  const seen = await step("doctor", "read_registry_duty", { group });
  if (!seen) return;
  delete memory[about];
  await step("doctor", "register_duty", { group, member: [group, me()], ...seen.memory }, "You are on duty.", { about });
  draw();
});

async function list(operation, named) {
  const answer = await step("desk", operation, { limit: 1_000 });
  if (!answer) return;
  const { rows, total } = answer.result;
  find("#listed").replaceChildren(...rows.map(({ truth }) => element("li", `${truth.FeeTransactionState.request}, of ${truth.FeeTransactionState.by}`)));
  say(`${named}: ${total}.`);
}
find("#unsure").addEventListener("click", () => list("unsure_fee", "Uncertain payments"));
find("#disputes").addEventListener("click", () => list("disputes_fee", "Disputed payments"));

signIn(find("#me"), clinic).catch(() => say("The server does not answer.", true));
clinic.follow(({ changes }) => {
  if (away) say("");
  if (waiting) return void waiting.push(...changes);
  changes.forEach(learn);
  draw();
}, {
  ready: load,
  lost: (error) => {
    if (!error) return;
    say(error.status ? why(error) : "The connection is lost; trying again.", true);
    away = true;
  },
});
// a hold runs out by the clock
let held = 0;
setInterval(() => {
  const now = [...known.Slot.values()].filter((slot) => slot.status === "HELD" && !over(slot)).length;
  if (now !== held) draw();
  held = now;
  tick();
}, 1_000);
// a doctor who is on duty says so, again and again
setInterval(async () => {
  for (const item of document.querySelectorAll("#own [data-key]")) {
    const name = item.dataset.key;
    const { key: member, status } = known.DutyMember.get(name) ?? {};
    if (!member || status === "DEAD" || (await step("doctor", "heartbeat_duty", { member }, undefined, { about: name }))) continue;
    delete memory[name];
    draw();
  }
}, 4_000);
