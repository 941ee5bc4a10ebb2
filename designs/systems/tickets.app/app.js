import { design, fresh, me, signIn } from "/app/steadfast.js";

const tickets = design("tickets");
const find = (css) => document.querySelector(css);
const seats = new Map();
const bookings = new Map();

const SIGN_IN = "Sign in with a token to see the seats.";
const WORDS = { AVAILABLE: "free", HELD: "held", SOLD: "sold" };

/** A record as it is now. Only the list and the feed tell of it, each in order: an answer may come later than what follows it. */
function learn({ subject, key, truth }) {
  if (subject === "Seat") {
    if (truth) seats.set(key[0], { ...truth.SeatInventoryState, ...truth.SeatHoldState });
    else seats.delete(key[0]);
  } else if (subject === "Booking" && truth) {
    bookings.set(key[0], truth.BookingState);
  }
}

/** The design says it in a guard: a hold that is over holds nothing, whether or not the sweeper has come. */
const over = (seat) => seat.status === "HELD" && Date.parse(seat.expires_at) < Date.now();
const word = (seat) => WORDS[over(seat) ? "AVAILABLE" : seat.status];
const isMine = (seat) => !over(seat) && bookings.get(seat.booking)?.buyer === me();

function say(text, bad = false) {
  find("#said").textContent = text;
  find("#said").classList.toggle("bad", bad);
}

/** A step, and what came of it. */
async function step(actor, operation, params, done) {
  try {
    await tickets.call(actor, operation, params);
    if (done) say(done);
    return true;
  } catch (error) {
    say(error.guard ? REFUSED[error.guard] ?? error.message : error.message, true);
    return false;
  }
}

const REFUSED = {
  free: "Somebody else has this seat.",
  live: "Your ten minutes were over before you bought it.",
  open: "This booking is over.",
  yours: "This booking is somebody else's.",
};

const hold = (seat) => step("buyer", "hold", { seat, booking: fresh() }, `${seat} is held for you.`);
const confirm = (booking, seat) => step("buyer", "confirm", { booking }, `${seat} is yours.`);

function element(name, text, more = {}) {
  const made = Object.assign(document.createElement(name), more);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** What looks the same stays, so that nobody clicks on what is just taken away. */
function replace(place, parts) {
  const there = [...place.children];
  if (parts.length === there.length && parts.every((part, at) => part.isEqualNode(there[at]))) return;
  place.replaceChildren(...parts);
}

function left(seat) {
  const seconds = Math.max(0, Math.round((Date.parse(seat.expires_at) - Date.now()) / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function mine() {
  const focused = document.activeElement?.closest("#mine [data-seat]")?.dataset.seat;
  const cards = [];
  for (const [name, seat] of seats) {
    if (!isMine(seat)) continue;
    const card = element("div", undefined, { className: "card" });
    card.dataset.seat = name;
    card.dataset.booking = seat.booking;
    card.append(element("strong", name));
    if (seat.status === "SOLD") {
      card.append(element("span", "is yours", { className: "good" }));
    } else {
      const told = element("span", "is held for you for ");
      told.append(element("span", left(seat), { className: "left" }));
      card.append(told);
      card.append(element("button", "Buy", { className: "main", onclick: () => confirm(seat.booking, name) }));
    }
    cards.push(card);
  }
  replace(find("#mine"), cards);
  if (focused) find(`#mine [data-seat="${CSS.escape(focused)}"] button`)?.focus();
}

function map() {
  const sections = new Map();
  for (const [name, seat] of seats) {
    if (!sections.has(seat.section)) sections.set(seat.section, []);
    sections.get(seat.section).push([name, seat]);
  }
  const order = new Intl.Collator(undefined, { numeric: true }).compare;
  const parts = [];
  for (const [section, list] of [...sections].sort(([a], [b]) => order(a, b))) {
    const grid = element("ul", undefined, { className: "seats" });
    for (const [name, seat] of list.sort(([a], [b]) => order(a, b))) {
      const said = isMine(seat) ? "yours" : word(seat);
      const button = element("button", name, { disabled: said !== "free", onclick: () => hold(name) });
      button.className = `${over(seat) ? "AVAILABLE" : seat.status}${isMine(seat) ? " mine" : ""}`;
      button.dataset.seat = name;
      button.append(element("small", said));
      const item = element("li");
      item.append(button);
      grid.append(item);
    }
    parts.push(element("h2", section), grid);
  }
  if (parts.length === 0) parts.push(element("p", "There are no seats yet. An organizer adds them below."));
  const focused = document.activeElement?.closest("#map [data-seat]")?.dataset.seat;
  replace(find("#map"), parts);
  if (focused) find(`#map button[data-seat="${CSS.escape(focused)}"]`)?.focus();
}

let drawing = false;
/** Once for all that changes within a frame. */
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    mine();
    map();
  });
}

async function load() {
  try {
    const [all, booked] = await Promise.all([tickets.list("Seat"), tickets.list("Booking", { buyer: me() })]);
    seats.clear();
    [...all, ...booked].forEach(learn);
    find("#map").setAttribute("aria-busy", "false");
    draw();
  } catch (error) {
    say(error.status === 401 ? SIGN_IN : error.message, true);
    // it is tried again
    throw error;
  }
}

find("#add").addEventListener("submit", async (event) => {
  event.preventDefault();
  const given = new FormData(event.target);
  for (let number = 1; number <= Number(given.get("seats")); number++) {
    const seat = `${given.get("row")}${number}`;
    if (seats.has(seat)) continue;
    if (!(await step("organizer", "add_seat", { seat, section: given.get("section") }))) return;
  }
  say("The seats are there.");
});

signIn(find("#me"), tickets);
tickets.follow((transition) => {
  transition.changes.forEach(learn);
  draw();
}, {
  // nothing is missed from here on: what is read now is brought up to date by what follows
  ready: load,
  back: () => say(""),
  lost: (error) => say(error.status === 401 ? SIGN_IN : "The connection is lost; trying again.", true),
});
// a hold runs out by the clock
let held = 0;
setInterval(() => {
  const now = [...seats.values()].filter((seat) => seat.status === "HELD" && !over(seat)).length;
  if (now !== held) draw();
  held = now;
  for (const time of document.querySelectorAll("#mine .left")) {
    time.textContent = left(seats.get(time.closest("[data-seat]").dataset.seat));
  }
}, 1_000);
