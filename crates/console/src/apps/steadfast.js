// What a page of a design may use: calls under a key of their own, records, views, the feed, and who one is.
//
//   import { design, signIn } from "/app/steadfast.js";
//   const tickets = design("tickets");
//   signIn(document.querySelector("#me"), tickets);
//   await tickets.call("buyer", "hold", { seat: "A1", booking: crypto.randomUUID() });

const KEPT = "steadfast.caller";

/** Who calls: `{ token }`, `{ as }` where no tokens are asked for, or nobody. */
export function caller() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

/** The name under which records know the caller; of a token it is the subject. */
export function me() {
  const { as, token } = caller();
  if (!token) return as ?? "local";
  try {
    const claims = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(claims), (c) => c.charCodeAt(0)))).sub;
  } catch {
    return undefined;
  }
}

/** What says who calls, for a request that this module has no words for. */
export function headers(more = {}) {
  const { as, token } = caller();
  const who = token ? { authorization: `Bearer ${token}` } : as ? { "steadfast-as": as } : {};
  return { ...who, ...more };
}

/** What the server said no to, or could not do: `status`, `problem` as it was sent, and of a refusal `guard` and `prevents`. */
export class Problem extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `the server answers ${status}`);
    this.status = status;
    this.problem = problem;
    this.guard = problem.guard;
    this.prevents = problem.prevents ?? [];
  }
}

async function problem(response) {
  let told = {};
  try {
    told = await response.json();
  } catch {
    // the status is all there is
  }
  return new Problem(response.status, told);
}

/** A name that nobody else has. */
export function fresh() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Nothing was done, or it is not known; under the same key it may be asked again. */
const AGAIN = [408, 429, 500, 502, 503, 504];

export function design(name) {
  const at = (...parts) => ["/v1", name, ...parts].map((part, i) => (i ? encodeURIComponent(part) : part)).join("/");
  const read = async (path, query = {}) => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const asked = new URLSearchParams(given.map(([name, value]) => [name, value ?? ""]));
    const response = await fetch(asked.size ? `${path}?${asked}` : path, { headers: headers() });
    if (!response.ok) throw await problem(response);
    return response.json();
  };
  return {
    name,
    /** A step or a read. It has a key, so that it happens once, however often its answer is lost. */
    async call(actor, operation, params = {}, { key = fresh(), tries = 6 } = {}) {
      const sent = { "content-type": "application/json", "idempotency-key": key };
      for (let tried = 1; ; tried++) {
        try {
          const response = await fetch(at(actor, operation), {
            method: "POST",
            signal: AbortSignal.timeout(30_000),
            headers: headers(sent),
            body: JSON.stringify(params),
          });
          if (response.ok) return await response.json();
          const why = await problem(response);
          // under way: the first try of this key has not been answered yet
          const again = AGAIN.includes(response.status) || why.problem.type === "/problems/key-under-way";
          if (!again || tried >= tries) throw why;
          await pause(1_000 * (Number(response.headers.get("retry-after")) || 0));
        } catch (error) {
          if (error instanceof Problem || tried >= tries) throw error;
        }
        await pause(Math.min(200 * 2 ** tried, 5_000));
      }
    },
    /** One record, or null. */
    async get(subject, ...key) {
      try {
        return await read(at(subject, ...key));
      } catch (error) {
        if (error.status === 404 && error.problem.type?.endsWith("/absent")) return null;
        throw error;
      }
    },
    /** All records that have these values, in the order of their keys. */
    async list(subject, values = {}) {
      const records = [];
      let after;
      do {
        const page = await read(at(subject), { ...values, limit: 1_000, after });
        records.push(...page.records);
        after = page.next ?? undefined;
      } while (after !== undefined);
      return records;
    },
    view: (view, params = {}) => read(at("views", view), params),
    /** What happens from now on, in order, each thing once; also when the connection or the server is lost meanwhile. `ready` is
     *  called as soon as nothing more can be missed, and what happens waits until it is done: read there what there is. Where
     *  what was missed is forgotten, it is called again. `lost` is told the error, and `back` that it goes on. Gives a function
     *  that ends it. */
    follow(happened, { ready = () => {}, lost = () => {}, back = () => {} } = {}) {
      const ending = new AbortController();
      follow(at("feed"), { happened, ready, lost, back }, ending.signal);
      return () => ending.abort();
    },
  };
}

/** A revision that is forgotten, or of a store that is no longer there: only reading anew helps. */
const FORGOTTEN = [400, 410];

async function follow(path, { happened, ready, lost, back }, signal) {
  // Several transitions may have one revision. Whoever lost the connection goes on behind the revision before the last, and
  // passes over what was told of the last.
  let [before, last, told] = [undefined, undefined, 0];
  let away = false;
  while (!signal.aborted) {
    try {
      const more = { accept: "text/event-stream", ...(before && { "last-event-id": before }) };
      const response = await fetch(path, { headers: headers(more), signal });
      if (!response.ok) throw await problem(response);
      if (away) back();
      away = false;
      const again = last;
      let known = told;
      for await (const event of events(response.body)) {
        if (event.id === undefined) continue;
        // what happens meanwhile waits in the stream
        if (before === undefined) await ready();
        if (event.kind !== "transition") {
          if (event.id !== before && last === undefined) before = event.id;
          else if (event.id !== last && event.id !== before) [before, last, told] = [event.id, undefined, 0];
          continue;
        }
        if (event.id === again && known > 0) {
          known--;
          continue;
        }
        if (event.id === last) told++;
        else [before, last, told] = [last ?? before ?? event.id, event.id, 1];
        happened(JSON.parse(event.data));
      }
      throw new Error("the connection ended");
    } catch (error) {
      if (signal.aborted) return;
      lost(error);
      away = true;
      if (FORGOTTEN.includes(error.status)) [before, last, told] = [undefined, undefined, 0];
      if (error.status === 401 || error.status === 403) return;
    }
    await pause(1_000);
  }
}

/** The server says something every 15 seconds, if only that it is there. */
const QUIET_MS = 45_000;

/** Server-sent events, one after the other. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let timer;
  const quiet = () =>
    new Promise((_, fail) => {
      timer = setTimeout(() => fail(new Error("the feed is quiet")), QUIET_MS);
    });
  try {
    for (;;) {
      const { value, done } = await Promise.race([reader.read(), quiet()]).finally(() => clearTimeout(timer));
      if (done) return;
      rest += value;
      let end;
      while ((end = rest.indexOf("\n\n")) >= 0) {
        const event = { kind: "message", data: "" };
        for (const line of rest.slice(0, end).split("\n")) {
          const colon = line.indexOf(":");
          const [field, said] = [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
          if (field === "event") event.kind = said;
          else if (field === "id") event.id = said;
          else if (field === "data") event.data += said;
        }
        rest = rest.slice(end + 2);
        yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Puts into `place` who one is, and a way to be somebody else; the page is loaded anew then. */
export async function signIn(place, { name }) {
  // no answer, or a name that no header may have: the form is there all the same
  const asked = await fetch(`/v1/${name}`, { headers: headers() }).then(({ status }) => status, () => 0);
  const known = caller();
  const tokens = asked === 401 || known.token !== undefined;
  const form = document.createElement("form");
  const label = document.createElement("label");
  const field = document.createElement("input");
  const button = document.createElement("button");
  const who = document.createElement("span");
  form.className = "who";
  label.textContent = tokens ? "Token" : "You are";
  field.id = "who";
  label.htmlFor = field.id;
  field.autocomplete = "off";
  field.type = tokens ? "password" : "text";
  field.value = tokens ? "" : (me() ?? "");
  if (known.token) {
    who.textContent = asked === 401 ? "This token is not valid. " : `Signed in as ${me() ?? "somebody"}. `;
  }
  button.textContent = tokens ? "Sign in" : "Change";
  form.append(who, label, " ", field, " ", button);
  field.addEventListener("input", () => field.setCustomValidity(""));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = field.value.trim();
    if (!/^[\x21-\x7e]*$/.test(given)) {
      field.setCustomValidity("Letters without accents, digits and signs, and no blanks.");
      field.reportValidity();
      return;
    }
    sessionStorage.setItem(KEPT, JSON.stringify(given ? (tokens ? { token: given } : { as: given }) : {}));
    location.reload();
  });
  place.replaceChildren(form);
}
