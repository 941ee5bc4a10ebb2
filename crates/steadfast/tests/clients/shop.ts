// A page of a shop: the client, in a browser. Where the server is, and the token of who looks, stand behind the `#`.
import { Client, Problem } from "./tickets.js";

const [baseUrl = "", token = ""] = decodeURIComponent(location.hash.slice(1)).split(" ");
const shop = new Client({ baseUrl, patienceMs: 10_000, ...(token === "" ? {} : { token: () => token }) });
const part = (id: string): HTMLElement => document.getElementById(id) ?? document.body;
const seatWanted = part("seat") as HTMLInputElement;

async function book(seat: string): Promise<string> {
  const booking = `booking of ${seat} ${crypto.randomUUID()}`;
  const held = await shop.buyer.hold({ seat, booking });
  if (held.outcome === "refused") return `refused by ${held.guard}`;
  const confirmed = await shop.buyer.confirm({ booking });
  if (confirmed.outcome === "refused") return `refused by ${confirmed.guard}`;
  const found = await shop.records.Seat.get(seat);
  return `${seat} is yours: ${found?.truth.SeatInventoryState?.status ?? "gone"}`;
}

const why = (error: unknown): string =>
  error instanceof Problem ? `${error.status} ${error.kind}` : `no answer: ${String(error)}`;

part("book").addEventListener("click", () => {
  book(seatWanted.value).catch(why).then((said) => {
    part("said").textContent = said;
  });
});

async function follow(): Promise<void> {
  for await (const transition of shop.feed({ from: "start" })) {
    const line = document.createElement("li");
    line.textContent = `${transition.operation} by ${transition.principal}`;
    part("feed").append(line);
  }
}
follow().catch((error: unknown) => {
  part("feed").textContent = why(error);
});
