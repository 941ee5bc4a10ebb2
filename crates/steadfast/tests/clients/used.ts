import { Client, Problem } from "./tickets.js";
import type { BuyerHoldRefused } from "./tickets.js";

declare const process: { argv: string[]; exit(code: number): never };

const baseUrl = process.argv[2] ?? "";
const organizer = new Client({ baseUrl, principal: "olga" });
const ann = new Client({ baseUrl, principal: "ann" });

const told: string[] = [];
const stop = new AbortController();
const following = (async () => {
  for await (const transition of organizer.feed({ from: "start", signal: stop.signal })) {
    const seat = transition.changes.find((change) => change.subject === "Seat");
    const events = transition.events.map((event) => ` ${event.event}`).join("");
    told.push(`${transition.operation} ${seat?.key[0] ?? ""}${events}`);
    if (transition.operation === "confirm") stop.abort();
  }
})();

for (const seat of ["A1", "A2", "A3", "A4"]) await organizer.organizer.add_seat({ seat, section: "stalls" });
const first = await ann.buyer.hold({ seat: "A1", booking: "b1" });
const refused = await ann.buyer.hold({ seat: "A1", booking: "b3" });
const why = (answer: BuyerHoldRefused): object => {
  switch (answer.guard) {
    case "free": {
      const seat = answer.truth.find((record) => record.subject === "Seat");
      return { guard: answer.guard, prevents: answer.prevents, status: seat?.truth?.SeatInventoryState?.status };
    }
    case "exists":
    case "fresh":
    case "fault":
      return { guard: answer.guard, fault: answer.fault };
  }
};
let wrong: object = {};
try {
  await ann.buyer.hold({ seat: "A1", booking: "b4", ttl: "long" });
} catch (error) {
  if (error instanceof Problem) wrong = { status: error.status, pointer: error.pointer };
}
// its first answer is lost
const second = await ann.buyer.hold({ seat: "A2", booking: "b2" });
const seat = await ann.records.Seat.get("A2");
const absent = await ann.records.Seat.get("none");
const confirmed = await ann.buyer.confirm({ booking: "b2" });
await following;
const sold: unknown[] = [];
for await (const found of organizer.records.Seat.list({ status: "SOLD", section: "stalls" })) sold.push(found.key[0]);
let counted = 0;
for await (const row of organizer.views.Availability.rows({ section: "stalls", limit: 1 })) {
  if (row.truth.SeatInventoryState?.section === "stalls") counted += 1;
}
console.log(
  JSON.stringify({
    first: first.outcome,
    refused: refused.outcome === "refused" ? why(refused) : {},
    second: { outcome: second.outcome, booking: seat?.truth.SeatInventoryState?.booking },
    confirmed: confirmed.outcome,
    wrong,
    absent,
    sold,
    counted,
    feed: told,
  }),
);
process.exit(0);
