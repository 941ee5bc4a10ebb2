import { design, me, signIn } from "/app/steadfast.js";

const api = design("rides");
const find = (css) => document.querySelector(css);
const rides = new Map();
const drivers = new Map();
const offers = new Map();

/** The town of this page. The area is what a ride and its driver have in common; a place is longitude, latitude. */
const PLACES = [
  ["Central station", "Mitte", 13.3695, 52.5251], ["Alexanderplatz", "Mitte", 13.4132, 52.5219],
  ["Museum island", "Mitte", 13.397, 52.5169], ["Potsdamer Platz", "Mitte", 13.376, 52.5096],
  ["Oranienplatz", "Kreuzberg", 13.4163, 52.503], ["Viktoriapark", "Kreuzberg", 13.3816, 52.4883],
].map(([name, area, ...at]) => ({ name, area, at }));

const together = (key) => key.join("\n");

/** A record as it is now, from a list or the feed. */
function learn({ subject, key, truth }) {
  const map = { Ride: rides, Driver: drivers, RideOffer: offers }[subject];
  if (truth) map?.set(together(key), { key, ...Object.assign({}, ...Object.values(truth)) });
  else map?.delete(together(key));
}

const where = (at) => PLACES.find((place) => String(place.at) === String(at))?.name ?? (at ? `${at[1]}, ${at[0]}` : "a place");
const route = (ride) => `${where(ride.pickup)} to ${where(ride.destination)}`;
const soon = (time) => Date.parse(time) >= Date.now();
const offer = (reference) => reference && offers.get(together(reference));
/** Who is asked now; what is over by the clock holds nobody, whether or not the worker has come. */
const asked = (ride) => (ride.offer && soon(offer(ride.offer)?.expires_at) ? ride.offer[1] : undefined);

const LOST = "The connection is lost; trying again.";
function say(text, bad = false) {
  find("#said").textContent = text;
  find("#said").classList.toggle("bad", bad);
}

const REFUSED = {
  yours: "This ride is somebody else's now.",
  open: "This ride is under way or over.",
  unpromised: "A driver is being asked and may rely on it. Cancel when the answer is there, in 15 seconds at most.",
  idle: "You are asked, or you have a ride: first answer it, or bring it to its end.",
  ready: "You are not free, so you cannot leave: answer first.",
  none_left: "No driver is free there who was not asked before.",
  unoffered: "A driver is being asked for this ride.",
  free: "This driver is not free any more.",
  near: "This driver is in another area.",
  unasked: "This driver was asked for this ride before.",
  proposed: "You do not have this offer any more.",
  live: "Your 15 seconds to answer were over.",
  waiting: "This ride has begun before, or is not yours any more.",
  started: "You have not set off.",
  under_way: "You have said so before, or have not set off.",
  on_board: "The rider has not said that they are in the car.",
  here: "The driver is not there yet.",
  fresh: "This was asked for before.",
  exists: "This is not there any more.",
  401: "Sign in with a token to ride or to drive.",
  403: "Your token does not allow this.",
};
const why = (error) => REFUSED[error.guard] ?? REFUSED[error.status] ?? error.message;

/** A step. What it changed comes by the feed, in order with what others did. */
async function step(actor, operation, params, done) {
  try {
    await api.call(actor, operation, params);
    say(done);
    return true;
  } catch (error) {
    say(why(error), true);
    return false;
  }
}

/** The server chooses the driver: one who is free in the area. */
const ask = (ride) => step("matcher", "propose", { ride: ride.key[0], area: ride.area }, "A driver is asked.");

function element(name, text, more = {}) {
  const made = Object.assign(document.createElement(name), more);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** What is said, with the seconds to `until` in it. */
function timed(text, until) {
  const line = element("p", text);
  const left = element("span", undefined, { className: "left" });
  left.dataset.until = until;
  tick(left);
  line.append(" ", left);
  return line;
}
function tick(left) {
  left.textContent = `${Math.max(0, Math.ceil((Date.parse(left.dataset.until) - Date.now()) / 1_000))} seconds are left.`;
}

/** A card of a ride: its route, how it stands, and what can be done: `[what, name of it, main]`. */
function trip(key, title, line, acts = [], at) {
  const box = element("article", undefined, { className: "card trip", tabIndex: -1, ariaLabel: title });
  box.dataset.trip = key;
  box.append(element("h3", title), line);
  if (at !== undefined) {
    const legs = element("ol", undefined, { className: "legs" });
    for (const [i, leg] of ["asked for", "accepted", "coming", "there", "on board"].entries()) {
      const item = legs.appendChild(element("li", leg, { className: i < at ? "done" : "" }));
      if (i === at) item.ariaCurrent = "step";
    }
    box.append(legs);
  }
  const row = element("div", undefined, { className: "acts" });
  for (const [what, name, main] of acts) row.append(element("button", name, { onclick: what, className: main ? "main" : "" }));
  if (acts.length) box.append(row);
  return box;
}

const leg = (ride) => (ride.status === "OPEN" ? 0 : ride.progress === "WAITING" ? 1 : { EN_ROUTE: 2, ARRIVED: 3, ON_BOARD: 4 }[ride.leg]);

function riding(ride) {
  const [id] = ride.key;
  const by = ride.assigned;
  const line = [
    () => (asked(ride) ? timed(`${asked(ride)} is asked.`, offer(ride.offer).expires_at) : element("p", "A driver is being looked for.")),
    () => timed(`${by} takes you, and is about to set off.`, ride.start_by),
    () => element("p", `${by} is on the way to ${where(ride.pickup)}.`),
    () => element("p", `${by} is at ${where(ride.pickup)}. Get in, and say so.`),
    () => element("p", `You are on the way to ${where(ride.destination)} with ${by}.`),
  ][leg(ride)]();
  const acts = {
    0: [[() => step("rider", "cancel_ride", { ride: id }, "Your ride is cancelled."), "Cancel the ride"]],
    3: [[() => step("rider", "get_in", { ride: id }, "You are on board."), "I am in the car", true]],
  }[leg(ride)];
  return trip(id, route(ride), line, acts, leg(ride));
}

function driving(driver) {
  const who = me();
  const leave = [() => step("driver", "leave", { candidate: who }, "You are not asked any more."), "Stop"];
  const ride = rides.get(driver.job ?? driver.asked?.[0]);
  if (driver.asked && ride) {
    const until = offer(driver.asked)?.expires_at;
    if (!soon(until)) return trip(ride.key[0], route(ride), element("p", "The time to answer is over. Somebody else is asked."));
    return trip(ride.key[0], route(ride), timed(`${ride.by} asks for this ride. Do you take it?`, until), [
      [() => step("driver", "accept", { offer: driver.asked }, "The ride is yours. Set off now."), "Take it", true],
      [() => step("driver", "reject", { offer: driver.asked }, "Somebody else is asked. You are still free."), "No"],
    ]);
  }
  if (driver.job && ride) {
    const act = (operation, name, done, main = true) => [() => step("executor", operation, { ride: driver.job }, done), name, main];
    const done = (main) => act("complete_trip", "The trip is done", "The trip is done. Say so when you are free again.", main);
    const [line, ...acts] = [
      [element("p", "The next step is awaited.")],
      [timed("The ride is yours. Set off, or somebody else gets it.", ride.start_by), act("start_trip", "Set off", `You are on the way to ${where(ride.pickup)}.`)],
      [element("p", `Drive to ${where(ride.pickup)}.`), act("arrive", "I am there", `${ride.by} is told that you are there.`)],
      [element("p", `Wait until ${ride.by} is in the car, and has said so.`), done(false)],
      [element("p", `Bring ${ride.by} to ${where(ride.destination)}.`), done(true)],
    ][leg(ride)];
    return trip(ride.key[0], route(ride), line, acts, leg(ride));
  }
  if (!driver.ready) return undefined;
  return trip("free", `You are free in ${driver.area}`, element("p", `You are at ${where(driver.at)}, and are asked when somebody near wants a ride.`), [leave]);
}

/** Puts cards into their place; those that say the same stay. What had the focus has it again, or else what is there instead. */
function refill(place, cards) {
  const focused = document.activeElement;
  const key = place.contains(focused) && focused.closest("[data-trip]")?.dataset.trip;
  const before = new Map([...place.children].map((box) => [box.dataset.trip, box]));
  const now = cards.map((card) => (before.get(card.dataset.trip)?.isEqualNode(card) ? before.get(card.dataset.trip) : card));
  if (now.length === before.size && now.every((card, i) => card === place.children[i])) return;
  place.replaceChildren(...now);
  if (!key) return;
  const card = now.find((box) => box.dataset.trip === key) ?? now[0];
  const button = [...(card?.querySelectorAll("button") ?? [])].find(({ textContent }) => textContent === focused.textContent);
  (button ?? card ?? place.parentNode.querySelector("form:not([hidden]) select, summary"))?.focus();
}

let drawing = false;
const asking = new Set();
/** Once for all that changes within a frame. */
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    const mine = [...rides.values()].filter((ride) => ride.by === me());
    const now = (ride) => ride.status === "OPEN" || ride.status === "MATCHED";
    const told = (ride) => `${route(ride)}: ${ride.status === "DONE" ? `${ride.assigned} brought you there` : "cancelled"}`;
    const past = mine.filter((ride) => !now(ride));
    const driver = drivers.get(me());
    document.querySelectorAll(".left").forEach(tick);
    const free = !driver?.asked && !driver?.job;
    find("#come").hidden = !free;
    find("#come button").textContent = driver?.ready ? "I am here now" : "I am free";
    find("#past").hidden = past.length === 0;
    find("#past ul").replaceChildren(...past.map((ride) => element("li", told(ride))));
    refill(find("#rides"), mine.filter(now).map(riding));
    refill(find("#driver"), driver ? [driving(driver)].filter(Boolean) : []);
    const open = [...rides.values()].filter((ride) => ride.status === "OPEN" && !ride.offer);
    const waits = (ride) => element("p", `${ride.by} waits in ${ride.area}.`);
    const none = element("p", "No ride waits for a driver to be asked.", { className: "faint", tabIndex: -1 });
    const asks = open.map((ride) => trip(ride.key[0], route(ride), waits(ride), [[() => ask(ride), "Ask a driver"]]));
    refill(find("#waiting"), open.length ? asks : [none]);
    if (find("#auto").checked) open.forEach(auto);
  });
}

/** Asks for a ride if somebody is free who was not asked before; one question at a time. */
async function auto(ride) {
  const [id] = ride.key;
  const some = [...drivers.values()].some(({ key: [who], ready, area }) => ready && area === ride.area && !offers.has(together([id, who])));
  if (!some || asking.has(id)) return;
  asking.add(id);
  await ask(ride);
  asking.delete(id);
}

/** What others did, for whom it concerns. */
function news({ operation, principal, changes }) {
  const ride = changes.filter(({ subject }) => subject === "Ride").map(({ key }) => rides.get(key[0]))[0];
  const driver = changes.some(({ subject, key }) => subject === "Driver" && key[0] === me());
  if (ride?.by === me() && principal !== me()) {
    const text = {
      accept: `${ride.assigned} takes your ride.`,
      start_trip: `${ride.assigned} is on the way to you.`,
      arrive: `${ride.assigned} is at ${where(ride.pickup)}. Get in, and say so.`,
      complete_trip: `You are at ${where(ride.destination)}.`,
      reassign: "Your driver did not set off. Somebody else is looked for.",
    }[operation];
    if (text) say(text);
  }
  if (operation === "get_in" && ride.assigned === me()) say(`${ride.by} is in the car.`);
  if (!driver) return;
  if (operation === "propose") say(`You are asked: ${route(ride)}. Answer within 15 seconds.`);
  if (operation === "expire_offer") say("You did not answer in time. Say so when you are free again.", true);
  if (operation === "reassign") say("You did not set off in time. The ride is not yours any more.", true);
}

function happened(transition) {
  if (find("#said").textContent === LOST) say("");
  transition.changes.forEach(learn);
  news(transition);
  draw();
}

/** What happens while all is read. */
let waiting = [];
async function load() {
  try {
    waiting ??= [];
    const read = (...asked) => api.list(...asked).catch((error) => (error.status === 403 ? [] : Promise.reject(error)));
    const all = await Promise.all([
      read("Ride", { by: me() }), read("Ride", { status: "OPEN" }), read("Ride", { status: "MATCHED" }),
      read("Driver"), read("RideOffer", { status: "PROPOSED" }),
    ]);
    for (const map of [rides, drivers, offers]) map.clear();
    all.flat().forEach(learn);
    waiting.forEach(happened);
    waiting = undefined;
    find("#rides").ariaBusy = "false";
    draw();
  } catch (error) {
    say(why(error), true);
    if (error.status !== 401) setTimeout(load, 3_000);
  }
}

for (const choice of document.querySelectorAll(".place")) {
  choice.append(...PLACES.map(({ name, area }, i) => element("option", `${name} (${area})`, { value: i })));
}
const place = (form, name) => PLACES[form.elements[name].value];
find("#request").elements.destination.value = "1";
find("#request").addEventListener("submit", (event) => {
  event.preventDefault();
  const [from, to] = ["pickup", "destination"].map((name) => place(event.target, name));
  if (from === to) return say("Choose another place to go to.", true);
  step("rider", "request_ride", { ride: crypto.randomUUID(), area: from.area, pickup: from.at, destination: to.at }, "Your ride is asked for.");
});
find("#come").addEventListener("submit", (event) => {
  event.preventDefault();
  const { name, area, at } = place(event.target, "at");
  step("driver", "come", { candidate: me(), area, at }, `You are free at ${name}.`);
});
find("#auto").addEventListener("change", draw);

signIn(find("#me"), api);
api.follow((transition) => (waiting ? waiting.push(transition) : happened(transition)), {
  // nothing is missed from here on: what is read now is brought up to date by what follows
  ready: load,
  lost: (error) => error && say(error.status === 401 ? REFUSED[401] : LOST, true),
});
// offers run out by the clock
let live = 0;
setInterval(() => {
  document.querySelectorAll(".left").forEach(tick);
  const now = [...offers.values()].filter(({ status, expires_at }) => status === "PROPOSED" && soon(expires_at)).length;
  if (now !== live) draw();
  live = now;
}, 1_000);
