import { design, me, signIn } from "/app/steadfast.js";

const auction = design("auction");
const find = (css) => document.querySelector(css);
const lots = new Map();
const bids = new Map();
const boards = new Map();
const cards = new Map();

/** The records below one auction. */
const of = (map, key) => map.get(key) ?? map.set(key, new Map()).get(key);

/** A record as it is now, from a list or the feed. */
function learn({ subject, key: [first, second], truth }) {
  const map = { Auction: lots, AuctionBid: of(bids, first), AuctionBoard: of(boards, first) }[subject];
  const key = subject === "Auction" ? first : second;
  if (truth) map?.set(key, Object.assign({}, ...Object.values(truth)));
  else map?.delete(key);
}

const number = (amount) => amount.toLocaleString();
const bidOf = (reference) => reference && of(bids, reference[0]).get(reference[1]);
const named = (who) => (who === me() ? "you" : who);
/** The clock says it before the worker has come. */
const over = (lot) => lot.status !== "OPEN" || Date.parse(lot.ends_at) < Date.now();
const tookPart = (key) => lots.get(key).seller === me() || [...of(bids, key).values()].some((bid) => bid.bidder === me());

function left(lot) {
  const seconds = Math.max(0, Math.ceil((Date.parse(lot.ends_at) - Date.now()) / 1_000));
  const two = (count) => String(count).padStart(2, "0");
  if (seconds >= 86_400) return `${Math.floor(seconds / 86_400)} d ${Math.floor(seconds / 3_600) % 24} h`;
  if (seconds >= 3_600) return `${Math.floor(seconds / 3_600)} h ${two(Math.floor(seconds / 60) % 60)} min`;
  return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
}

function outcome(lot) {
  if (lot.status === "OPEN") return "The time is over. The last bids are being judged.";
  if (!lot.winner) return "Nobody bid.";
  const winner = bidOf(lot.winner)?.bidder ?? "somebody";
  if (winner === me()) return `You won it for ${number(lot.best)}.`;
  return `Sold to ${winner} for ${number(lot.best)}.`;
}

function say(text, bad = false) {
  find("#said").textContent = text;
  find("#said").classList.toggle("bad", bad);
}

const REFUSED = {
  in_time: "The time is over. Your bid came too late.",
  enough: "That is below the lowest bid that is taken.",
  not_the_seller: "You sell this, so you cannot bid for it.",
  fresh: "This was written down before.",
  already_exists: "This item has a board of that name.",
  exists: "This item is not there any more.",
  401: "Sign in with a token to see the auctions.",
  403: "Your token does not allow this.",
};
const why = (error) => REFUSED[error.guard] ?? REFUSED[error.status] ?? error.message;

/** A step. What it changed comes by the feed, in order with what others did. */
async function step(actor, operation, params, done) {
  try {
    await auction.call(actor, operation, params);
    if (done()) say(done());
    return true;
  } catch (error) {
    say(why(error), true);
    return false;
  }
}

async function place(key, form) {
  const bid = crypto.randomUUID();
  const amount = form.elements.amount.valueAsNumber;
  // what the house says of it may have come already
  const done = () => (of(bids, key).get(bid)?.status ?? "PLACED") === "PLACED" && `Your bid of ${number(amount)} is written down.`;
  if (await step("bidder", "place_bid", { bid: [key, bid], amount }, done)) form.reset();
}

function element(name, text, more = {}) {
  const made = Object.assign(document.createElement(name), more);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** A text, if it is another one than before. */
function put(place, text) {
  place.hidden = !text;
  if (place.textContent !== text) place.textContent = text;
}

/** The card of an auction is made once, so that what is typed into it stays. */
function card(key) {
  const made = { box: element("article", undefined, { className: "card lot" }) };
  for (const [part, name] of Object.entries({ title: "h3", sold: "p", price: "p", told: "p", you: "p", time: "p" })) {
    made[part] = made.box.appendChild(element(name, "", { className: part }));
  }
  made.sold.className = "faint";
  made.left = element("span", "", { className: "left" });
  made.title.id = `title-${key}`;
  made.box.dataset.auction = key;
  made.box.setAttribute("aria-labelledby", made.title.id);
  made.form = made.box.appendChild(element("form", undefined, {
    onsubmit: (event) => {
      event.preventDefault();
      place(key, made.form);
    },
  }));
  const amount = element("input", undefined, { name: "amount", type: "number", step: 1, required: true, autocomplete: "off" });
  const label = element("label", "Your bid ");
  const button = element("button", "Bid", { className: "main" });
  label.append(amount);
  for (const part of [amount, button]) part.setAttribute("aria-describedby", made.title.id);
  made.form.append(label, button);
  made.more = made.box.appendChild(element("details"));
  made.count = made.more.appendChild(element("summary"));
  made.bids = made.more.appendChild(element("ol"));
  made.boards = made.box.appendChild(element("p", "", { className: "faint boards" }));
  return made;
}

function judged(lot, key, bid) {
  if (lot.bid?.[1] === key) return lot.status === "CLOSED" ? "won" : "is the highest";
  return { PLACED: "is not judged yet", ACCEPTED: "was the highest until it was outbid", REJECTED: "was not higher than the highest" }[bid.status];
}

function show(key, lot) {
  if (!cards.has(key)) cards.set(key, card(key));
  const made = cards.get(key);
  const all = [...of(bids, key)].sort(([, a], [, b]) => Date.parse(a.placed_at) - Date.parse(b.placed_at));
  const leader = bidOf(lot.bid)?.bidder;
  const mine = all.some(([, bid]) => bid.bidder === me());
  const ended = over(lot);
  put(made.title, lot.item || key);
  put(made.sold, lot.seller === me() ? "You sell this." : `Sold by ${lot.seller}.`);
  put(made.price, lot.bid && !ended ? number(lot.best) : "");
  if (ended) put(made.told, outcome(lot));
  else put(made.told, lot.bid ? `is the highest bid, by ${named(leader)}.` : `No bid yet. Bids start at ${number(lot.reserve)}.`);
  put(made.you, ended || !mine ? "" : leader === me() ? "You have the highest bid." : "You are outbid. Bid more to get it.");
  made.you.className = leader === me() ? "you good" : "you bad";
  made.told.className = ended && lot.winner && leader === me() ? "told good" : "told";
  made.box.classList.toggle("leading", mine && leader === me());
  made.box.classList.toggle("behind", mine && !ended && leader !== me());
  made.time.hidden = ended;
  if (!made.left.parentNode) made.time.append("Open for ", made.left);
  put(made.left, left(lot));
  made.form.hidden = ended || lot.seller === me();
  made.more.hidden = all.length === 0;
  put(made.count, all.length === 1 ? "1 bid" : `${all.length} bids`);
  const lines = all.map(([id, bid]) => `${bid.bidder === me() ? "You" : bid.bidder}: ${number(bid.amount)} ${judged(lot, id, bid)}`);
  if (lines.join() !== [...made.bids.children].map((line) => line.textContent).join()) {
    made.bids.replaceChildren(...lines.map((line) => element("li", line)));
  }
  put(made.boards, [...of(boards, key)].map(([node, board]) => `Board ${node} shows ${board.shown ? number(board.shown) : "no bid"}${board.over ? ", over" : ""}.`).join(" "));
  return made.box;
}

/** Children in this order; they are moved only if they are in another one. */
function order(parent, children) {
  if (children.length === parent.children.length && children.every((child, i) => child === parent.children[i])) return;
  const focused = document.activeElement;
  parent.replaceChildren(...children);
  if (parent.contains(focused)) focused.focus();
}

let drawing = false;
/** Once for all that changes within a frame. */
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    const all = [...lots].sort(([, a], [, b]) => Date.parse(a.ends_at) - Date.parse(b.ends_at));
    const open = all.filter(([, lot]) => !over(lot));
    const past = all.filter(([, lot]) => over(lot)).reverse();
    order(find("#open"), open.map(([key, lot]) => show(key, lot)));
    order(find("#over"), past.map(([key, lot]) => show(key, lot)));
    find("#nothing").hidden = open.length > 0 || find("#open").ariaBusy === "true";
    find("#past").hidden = past.length === 0;
    const choice = find("#attach").elements.auction;
    const known = new Map([...choice.options].map((option) => [option.value, option]));
    order(choice, open.map(([key, lot]) => known.get(key) ?? element("option", lot.item || key, { value: key })));
    find("#attach").hidden = open.length === 0;
  });
}

/** What concerns whoever reads this. */
function news(operation, changes, led) {
  for (const { subject, key: [key, id] } of changes) {
    const lot = lots.get(key);
    if (!lot) continue;
    const leader = bidOf(lot.bid)?.bidder;
    if (operation === "update_best" && subject === "Auction") {
      if (leader === me()) say(`You have the highest bid for ${lot.item}: ${number(lot.best)}.`);
      else if (led.get(key) === me()) say(`You are outbid: ${leader} bids ${number(lot.best)} for ${lot.item}.`, true);
    } else if (operation === "reject_bid" && subject === "AuctionBid") {
      const bid = of(bids, key).get(id);
      if (bid.bidder === me()) say(`Your ${number(bid.amount)} for ${lot.item} is not higher than the highest bid, ${number(lot.best)}.`, true);
    } else if (operation === "close" && subject === "Auction" && tookPart(key)) {
      say(`The time for ${lot.item} is over. ${outcome(lot)}`);
    }
  }
}

const LOST = "The connection is lost; trying again.";

function happened({ operation, changes }) {
  if (find("#said").textContent === LOST) say("");
  const led = new Map(changes.map(({ key: [key] }) => [key, bidOf(lots.get(key)?.bid)?.bidder]));
  changes.forEach(learn);
  news(operation, changes, led);
  draw();
}

/** What happens while all is read. */
let waiting = [];
async function load() {
  try {
    waiting ??= [];
    const read = (subject) => auction.list(subject).catch((error) => (error.status === 403 ? [] : Promise.reject(error)));
    const all = await Promise.all(["Auction", "AuctionBid", "AuctionBoard"].map(read));
    for (const map of [lots, bids, boards, cards]) map.clear();
    all.flat().forEach(learn);
    waiting.forEach(happened);
    waiting = undefined;
    find("#open").ariaBusy = "false";
    draw();
  } catch (error) {
    say(why(error), true);
    if (error.status !== 401) setTimeout(load, 3_000);
  }
}

find("#create").elements.seller.value = me() ?? "";
find("#create").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { item, seller, reserve, length, unit } = Object.fromEntries(new FormData(event.target));
  const params = { auction: crypto.randomUUID(), item, seller, reserve: Number(reserve), length: length + unit };
  if (await step("house", "create_auction", params, () => `${item} is up for sale.`)) find("#create").elements.item.value = "";
});
find("#attach").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = Object.fromEntries(new FormData(event.target));
  step("house", "attach_board", given, () => `The board ${given.node} is attached.`);
});

signIn(find("#me"), auction);
auction.follow((transition) => (waiting ? waiting.push(transition) : happened(transition)), {
  // nothing is missed from here on: what is read now is brought up to date by what follows
  ready: load,
  lost: (error) => error && say(error.status === 401 ? REFUSED[401] : LOST, true),
});
// an auction ends by the clock
let open = 0;
setInterval(() => {
  for (const [key, lot] of lots) if (cards.has(key) && !over(lot)) put(cards.get(key).left, left(lot));
  const now = [...lots.values()].filter((lot) => !over(lot)).length;
  if (now !== open) draw();
  open = now;
}, 1_000);
