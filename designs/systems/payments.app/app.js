import { design, me, signIn } from "/app/steadfast.js";

const payments = design("payments");
const find = (css) => document.querySelector(css);
const intents = new Map();
const charges = new Map();
const receipts = new Map();

/** A record as it is now, from a list or the feed. */
function learn({ subject, key, truth }) {
  const [known, now] =
    subject === "Intent"
      ? [intents, truth?.PaymentIntentState]
      : [charges, truth && { ...truth.TransactionState, ...truth.PaymentMovementState }];
  if (now) known.set(key[0], now);
  else known.delete(key[0]);
}

const REFUSED = {
  create_intent: { fresh: "There is a payment with this reference already. Choose another one." },
  pay: {
    yours: "This payment is somebody else's.",
    open: "This payment is under way, uncertain or over already. It is not sent twice.",
  },
  cancel_intent: {
    yours: "This payment is somebody else's.",
    idle: "It is too late to call this off: the payment is under way, uncertain or over.",
  },
  void_intent: { unsure: "This payment is not uncertain: only what nobody knows the outcome of can be void." },
  payment_status: { yours: "This payment is somebody else's." },
  receipt_of: { yours: "This payment is somebody else's.", paid: "There is no receipt: this payment is not settled." },
};
const ANY = { exists: "There is no payment with this reference.", fresh: "This number is taken. Try again." };

function why(error, operation) {
  if (error.guard) return REFUSED[operation]?.[error.guard] ?? ANY[error.guard] ?? error.message;
  if (error.status === 401) return "Sign in with a token to see your payments.";
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

/** A step, and what came of it: its answer, or nothing. What it changed comes by the feed, in order. */
async function step(actor, operation, params, done) {
  try {
    const answer = await payments.call(actor, operation, params);
    if (done) say(done);
    return answer;
  } catch (error) {
    say(why(error, operation), true);
    return undefined;
  }
}

const pay = (intent) =>
  step("merchant", "pay", { intent, charge: crypto.randomUUID() }, `${intent} is sent to the network.`);
const callOff = (intent) => step("merchant", "cancel_intent", { intent }, `${intent} is called off. It costs nothing.`);
const voidIt = (intent) => step("operator", "void_intent", { intent }, `${intent} is void. It costs nothing.`);

async function check(intent) {
  const answer = await step("merchant", "payment_status", { intent });
  if (answer) say(`${intent}: ${told(answer.result).word}.`);
}

async function receipt(intent) {
  const answer = await step("merchant", "receipt_of", { intent }, `The receipt of ${intent} is there.`);
  if (!answer) return;
  receipts.set(intent, answer.result);
  draw();
}

/** What is known of a payment: a word, its kind, and a sentence. */
function told({ status, charge }) {
  const sent = charges.get(charge);
  switch (status) {
    case "CREATED":
      return { word: "not sent yet", kind: "", text: "Nothing was asked of the network." };
    case "PROCESSING":
      return { word: "under way", kind: "open", text: "The network was asked, and its answer is awaited." };
    case "UNKNOWN":
      return {
        word: "uncertain",
        kind: "open",
        text: "The network was asked and did not answer, so nobody knows whether the money has moved. It is asked again " +
          "under the same number until it answers; even if it is asked often, it pays at most once. Do not pay in another way.",
      };
    case "SUCCEEDED":
      return { word: "settled", kind: "good", text: "The network has paid it, once." };
    case "FAILED":
      return { word: "declined", kind: "bad", text: "The network said no, and took nothing. You may try again." };
    case "CANCELLED":
      return { word: "called off", kind: "", text: "It was called off before it was sent. It costs nothing." };
  }
  if (sent?.disputed) {
    return { word: "void, disputed", kind: "bad", text: "The network took the money and will not give it back. An operator settles it by hand." };
  }
  if (Number(sent?.returned) > 0) return { word: "refunded", kind: "good", text: "The network took the money, and gave it back." };
  if (sent?.status === "AUTHORIZED") {
    return { word: "void, being given back", kind: "open", text: "The network took the money after all. It is asked to give it back." };
  }
  if (sent?.status === "DECLINED") return { word: "void", kind: "", text: "The network has said that it took nothing." };
  return { word: "void", kind: "", text: "An operator has promised that this costs nothing. If the network took the money, it is given back." };
}

function element(name, text, more = {}) {
  const made = Object.assign(document.createElement(name), more);
  if (text !== undefined) made.textContent = text;
  return made;
}

function card([intent, state], actions, owner = "") {
  const { word, kind, text } = told(state);
  const made = element("li", undefined, { className: `card ${kind}`, tabIndex: -1 });
  made.dataset.intent = intent;
  const row = element("div", undefined, { className: "row" });
  row.append(
    element("h3", intent),
    element("span", `${state.amount} ${state.currency}${owner}`, { className: "amount" }),
    element("strong", word, { className: "word" }),
  );
  made.append(row, element("p", text, { className: "faint" }));
  const paid = receipts.get(intent);
  if (!owner && paid && state.status === "SUCCEEDED") {
    made.append(element("p", `Receipt: ${paid.amount} ${paid.currency}, charge ${paid.transaction}`, { className: "receipt" }));
  }
  if (actions.length) {
    const buttons = element("div", undefined, { className: "actions" });
    for (const [name, act, main] of actions) {
      const button = element("button", name, { type: "button", className: main ? "main" : "", onclick: () => act(intent) });
      button.dataset.act = act.name;
      button.setAttribute("aria-label", `${name}: ${intent}`);
      buttons.append(button);
    }
    made.append(buttons);
  }
  return made;
}

function actions({ status }) {
  if (status === "CREATED" || status === "FAILED") {
    return [[status === "FAILED" ? "Try again" : "Pay", pay, true], ["Call off", callOff]];
  }
  if (status === "PROCESSING" || status === "UNKNOWN") return [["Check now", check]];
  return status === "SUCCEEDED" ? [["Receipt", receipt]] : [];
}

/** Puts cards into a list; the focus stays on its button, or at least on its card. */
function put(list, cards) {
  const focused = list.contains(document.activeElement) ? document.activeElement : undefined;
  const intent = focused?.closest("[data-intent]")?.dataset.intent;
  list.replaceChildren(...cards);
  if (intent === undefined) return;
  const now = list.querySelector(`[data-intent="${CSS.escape(intent)}"]`);
  (now?.querySelector(`[data-act="${focused.dataset.act}"]`) ?? now)?.focus();
}

let drawing = false;
/** Once for all that changes within a frame. */
function draw() {
  if (drawing || waiting) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    const order = new Intl.Collator(undefined, { numeric: true }).compare;
    const all = [...intents].sort(([a], [b]) => order(a, b));
    const mine = all.filter(([, { owner }]) => owner === me());
    put(find("#mine"), mine.map((one) => card(one, actions(one[1]))));
    find("#none").hidden = mine.length > 0;
    const doubtful = all.filter(([, one]) => {
      const sent = charges.get(one.charge);
      const back = sent?.status === "AUTHORIZED" && Number(sent.returned) === 0;
      return one.status === "UNKNOWN" || (one.status === "VOIDED" && (!sent || sent.status === "UNKNOWN" || back));
    });
    const offered = ({ status }) => (status === "UNKNOWN" ? [["Void it", voidIt]] : []);
    put(find("#doubtful"), doubtful.map((one) => card(one, offered(one[1]), ` of ${one[1].owner}`)));
    find("#certain").hidden = doubtful.length > 0;
  });
}

/** What happens while the records are read; it may be newer than what is read. */
let waiting;
async function load() {
  if (waiting) return;
  waiting = [];
  try {
    const read = await Promise.all([payments.list("Intent"), payments.list("Charge")]);
    intents.clear();
    charges.clear();
    [...read.flat(), ...waiting].forEach(learn);
    waiting = undefined;
    if (away) say("");
    find("#mine").setAttribute("aria-busy", "false");
    draw();
  } catch (error) {
    waiting = undefined;
    say(why(error), true);
    away = true;
    if (error.status !== 401 && error.status !== 403) setTimeout(load, 2_000);
  }
}

find("#create").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const given = Object.fromEntries(new FormData(form));
  given.intent = given.intent.trim();
  if (!(await step("merchant", "create_intent", given, `${given.intent} is written down. Nothing is sent yet.`))) return;
  form.elements.intent.value = "";
});

find("#void").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await voidIt(new FormData(event.target).get("intent").trim())) event.target.reset();
});

/** All pages of a list of the operator's. */
async function list(operation, named) {
  const rows = [];
  let after;
  do {
    const answer = await step("operator", operation, after ? { after } : {});
    if (!answer) return;
    rows.push(...answer.result.rows);
    after = answer.result.next;
  } while (after);
  find("#listed").hidden = false;
  find("#listed").textContent = `${named}: ${rows.length}`;
  const line = ({ key, truth }) => `${key[0]}: of ${truth.TransactionState.intent}, started by ${truth.TransactionState.by}`;
  find("#charges").replaceChildren(...rows.map((row) => element("li", line(row))));
  say(`${named}: ${rows.length}.`);
}
find("#unsure").addEventListener("click", () => list("unsure_payment", "Uncertain charges"));
find("#disputes").addEventListener("click", () => list("disputes_payment", "Disputed charges"));

signIn(find("#me"), payments).catch(() => say("The server does not answer.", true));
payments.follow(({ changes }) => {
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
