// ---- what every client has: requests, tries, memory, the feed ----

/** A whole number. Beyond 2^53 a `number` is not exact: send a `bigint` or a text there. */
export type Whole = number | bigint | string;
/** Exact, with at most six places, as a text such as "12.50". */
export type Decimal = string;
/** RFC 3339; a number of milliseconds since 1970 is taken, too. */
export type Time = string;
/** Such as "10m" or "1500ms". */
export type Duration = string;
export type Json = unknown;

/** What may befall any step, besides the clauses of its guard. */
export type Fault =
  | "no_such_record" | "deleted" | "already_exists" | "no_parent" | "empty_key" | "has_children" | "nothing"
  | "null_value" | "overflow" | "division_by_zero" | "collection_full" | "out_of_range" | "unsupported";
/** A fault, alone or behind the clause in which it occurred. */
export type AnyFault = Fault | `${string}.${Fault}`;

export interface Options {
  /** Where the server is: "https://tickets.example". */
  baseUrl: string;
  /** Gives the token of the caller; asked before every try, so that a token may be renewed. */
  token?: () => string | Promise<string>;
  /** Who calls, for a server on loopback that asks for no tokens. */
  principal?: string;
  /** One try may take so long, in milliseconds; 30,000 unless said. */
  timeoutMs?: number;
  /** All tries of one call together may take so long, in milliseconds; 60,000 unless said. */
  patienceMs?: number;
  /** A feed that sends nothing for so long is asked for again, in milliseconds; 60,000 unless said. */
  quietMs?: number;
  /** What was remembered before: `memory.toJSON()` of an earlier client of the same principal. */
  memory?: Record<string, string>;
  /** Another `fetch`. */
  fetch?: typeof globalThis.fetch;
}

/** How one call is made. */
export interface Terms {
  /** The idempotency key; made by the client unless given. Give the one of an `Unanswered` to ask again. */
  key?: string;
  /** The ETag of the record that the first reference names: the step is taken only if it still has it. */
  ifMatch?: string;
  signal?: AbortSignal;
}

export interface Legal {
  actor: string;
  operation: string;
  params: Record<string, Json>;
}

/** The server says that something is wrong: RFC 9457. */
export class Problem extends Error {
  override readonly name: string = "Problem";
  constructor(
    readonly status: number,
    /** Names it: "unauthenticated", "wrong-role", "wrong-type" and so on. */
    readonly kind: string,
    readonly title: string,
    readonly detail: string,
    /** The field of the body that is wrong, as RFC 6901 has it. */
    readonly pointer: string | undefined,
    readonly body: Record<string, Json>,
  ) {
    super(detail === "" ? title : `${title}: ${detail}`);
  }
}

/** No answer came in time: it is not known whether the step was taken. Asking again with `key` is safe. */
export class Unanswered extends Error {
  override readonly name: string = "Unanswered";
  constructor(
    readonly key: string | undefined,
    readonly tries: number,
    override readonly cause: unknown,
  ) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`no answer after ${tries} ${tries === 1 ? "try" : "tries"}: ${why}`);
  }
}

/** What the caller remembers: sealed texts that the server handed out, by field and record. */
export class Memory {
  private readonly held: Map<string, string>;
  constructor(held: Record<string, string> = {}) {
    this.held = new Map(Object.entries(held));
  }
  get(place: string): string | undefined {
    return this.held.get(place);
  }
  set(place: string, value: string | null): void {
    if (value === null) this.held.delete(place);
    else this.held.set(place, value);
  }
  clear(): void {
    this.held.clear();
  }
  /** To be kept, and given to a later client of the same principal. */
  toJSON(): Record<string, string> {
    return Object.fromEntries(this.held);
  }
}

/** One field of memory that a call reads or is handed: its name in bodies, the actor whose it is, the field, and the
 *  parameter whose record it belongs to. */
type Remembered = readonly [name: string, actor: string, field: string, of: string | null, read: boolean];

type Answered = { status: number; headers: Headers; body: Record<string, Json> };

const RETRIED = new Set([408, 429, 500, 502, 503, 504]);
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Half of it is chance, so that many who were turned away do not come again at once. */
function backoff(tries: number): number {
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 16));
  return most / 2 + (most / 2) * Math.random();
}

function retryAfterMs(headers: Headers): number | undefined {
  const said = headers.get("retry-after");
  if (said === null) return undefined;
  const seconds = Number(said);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const at = Date.parse(said);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

function written(value: Json): string {
  return JSON.stringify(value, (_name, held: Json) => (typeof held === "bigint" ? held.toString() : held));
}

/** `7` and `"7"` are one key, and so are `"a"` and `["a"]`. */
function keyText(key: Json): string {
  return Array.isArray(key) ? key.map(String).join("\u0000") : String(key);
}

function problemOf(answered: Answered): Problem {
  const { body, status } = answered;
  const text = (name: string): string => (typeof body[name] === "string" ? (body[name] as string) : "");
  const kind = text("type").replace(/^\/problems\//, "");
  const pointer = typeof body["pointer"] === "string" ? body["pointer"] : undefined;
  return new Problem(status, kind, text("title") || `status ${status}`, text("detail"), pointer, body);
}

/** Makes requests for all parts of a client. */
export class Connection {
  readonly memory: Memory;
  private readonly base: string;
  constructor(
    private readonly options: Options,
    private readonly design: string,
  ) {
    this.base = options.baseUrl.replace(/\/+$/, "");
    this.memory = new Memory(options.memory);
  }

  private async headers(): Promise<Record<string, string>> {
    const headers: Record<string, string> = {};
    if (this.options.token !== undefined) headers["authorization"] = `Bearer ${await this.options.token()}`;
    if (this.options.principal !== undefined) headers["steadfast-as"] = this.options.principal;
    return headers;
  }

  private url(path: string): string {
    return `${this.base}/v1/${this.design}/${path}`;
  }

  private fetch(url: string, request: RequestInit): Promise<Response> {
    return (this.options.fetch ?? globalThis.fetch)(url, { ...request, credentials: "omit", redirect: "error" });
  }

  /** Asks until there is an answer that trying again would not change. Every try is the same request. */
  async request(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    more: Record<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<{ answered: Answered; response: Response }> {
    const until = Date.now() + (this.options.patienceMs ?? 60_000);
    const key = more["idempotency-key"];
    for (let tries = 1; ; tries += 1) {
      let wait = backoff(tries);
      let failed: unknown;
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(new Error("the try took too long")), this.options.timeoutMs ?? 30_000);
      const stop = (): void => limit.abort(signal?.reason);
      signal?.addEventListener("abort", stop, { once: true });
      if (signal?.aborted === true) stop();
      try {
        const headers = { ...(await this.headers()), ...more };
        const request: RequestInit = { method, headers, signal: limit.signal };
        if (body !== undefined) request.body = body as BodyInit;
        const response = await this.fetch(this.url(path), request);
        const json = (response.headers.get("content-type") ?? "").includes("json");
        const parsed: Json = json ? await response.json() : {};
        const held = typeof parsed === "object" && parsed !== null ? (parsed as Record<string, Json>) : {};
        const answered = { status: response.status, headers: response.headers, body: held };
        const underWay = held["type"] === "/problems/key-under-way";
        if (!RETRIED.has(response.status) && !underWay) return { answered, response };
        failed = problemOf(answered);
        wait = Math.max(wait, retryAfterMs(response.headers) ?? 0);
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        failed = error;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", stop);
      }
      if (Date.now() + wait > until) {
        // what was not done, by the word of the server, is no secret
        if (failed instanceof Problem && failed.status !== 500) throw failed;
        throw new Unanswered(key, tries, failed);
      }
      await pause(wait, signal);
    }
  }

  /** One step or read. A step always goes out under an idempotency key, the same for all its tries. */
  async call(
    asked: { actor: string; operation: string; isStep: boolean; guards: readonly string[] },
    params: object,
    remembered: readonly Remembered[],
    terms: Terms,
  ): Promise<Record<string, Json>> {
    const { actor, operation, isStep } = asked;
    const place = (of: Remembered, given: Record<string, Json>): string =>
      [of[1], of[2], ...(of[3] === null ? [] : [keyText(given[of[3]])])].join("\u0001");
    const sent: Record<string, Json> = { ...params };
    for (const one of remembered) {
      const held = one[4] ? this.memory.get(place(one, sent)) : undefined;
      if (held !== undefined) sent[one[0]] = held;
    }
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (isStep) headers["idempotency-key"] = terms.key ?? globalThis.crypto.randomUUID();
    if (terms.ifMatch !== undefined) headers["if-match"] = terms.ifMatch;
    const path = `${actor}/${operation}`;
    const { answered } = await this.request("POST", path, written(sent), headers, terms.signal);
    const { status, body } = answered;
    if (status === 409 && typeof body["guard"] === "string") {
      const { truth, legal, prevents, detail } = body;
      const isClause = asked.guards.includes(body["guard"]);
      const [guard, fault] = isClause ? [body["guard"], null] : ["fault", body["guard"]];
      return { outcome: "refused", guard, fault, truth, legal, prevents, detail };
    }
    if (status !== 200) throw problemOf(answered);
    const handed = body["memory"] as Record<string, string | null>;
    // a record that the server took is named by the answer alone
    const result = body["result"];
    const given = { ...sent, ...(isStep && typeof result === "object" ? result : {}) };
    for (const one of remembered) {
      const value = handed[one[0]];
      if (value !== undefined) this.memory.set(place(one, given), value);
    }
    return body;
  }

  async get(path: string, query: Record<string, Json>, signal: AbortSignal | undefined, more: Record<string, string> = {}): Promise<Answered> {
    const asked = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value === undefined || value === null) continue;
      if (name === "key" && Array.isArray(value)) value.forEach((part) => asked.append(name, String(part)));
      else asked.append(name, Array.isArray(value) ? value.map(String).join(",") : String(value));
    }
    const text = asked.toString();
    const { answered } = await this.request("GET", text === "" ? path : `${path}?${text}`, undefined, more, signal);
    return answered;
  }

  async view(name: string, query: Record<string, Json>, signal: AbortSignal | undefined): Promise<Record<string, Json>> {
    const answered = await this.get(`views/${name}`, query, signal);
    if (answered.status !== 200) throw problemOf(answered);
    return answered.body;
  }

  /** Null: there is none, or none that the caller may see. */
  async record(subject: string, key: readonly Json[], signal: AbortSignal | undefined): Promise<Record<string, Json> | null> {
    const path = [subject, ...key].map((part) => encodeURIComponent(String(part))).join("/");
    const answered = await this.get(path, {}, signal);
    if (answered.status === 404 && answered.body["type"] === "/problems/absent") return null;
    if (answered.status !== 200) throw problemOf(answered);
    return { ...answered.body, etag: answered.headers.get("etag") };
  }

  async *list(subject: string, having: { readonly [name: string]: Json | undefined }, signal: AbortSignal | undefined): AsyncGenerator<Record<string, Json>, void, undefined> {
    const asked: Record<string, Json> = {};
    for (const [name, value] of Object.entries(having)) {
      // null asks for records that have none
      if (value !== undefined) asked[name] = value === null ? "" : value;
    }
    for (;;) {
      const answered = await this.get(encodeURIComponent(subject), asked, signal);
      if (answered.status !== 200) throw problemOf(answered);
      yield* answered.body["records"] as Record<string, Json>[];
      const next = answered.body["next"] as string | null;
      if (next === null) return;
      asked["after"] = next;
    }
  }

  async store(content: Uint8Array, signal: AbortSignal | undefined): Promise<string> {
    const headers = { "content-type": "application/octet-stream" };
    const { answered } = await this.request("POST", "blobs", content, headers, signal);
    if (answered.status !== 200) throw problemOf(answered);
    return answered.body["digest"] as string;
  }

  async content(digest: string, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const { answered, response } = await this.request("GET", `blobs/${encodeURIComponent(digest)}`, undefined, {}, signal);
    if (answered.status !== 200) throw problemOf(answered);
    return new Uint8Array(await response.arrayBuffer());
  }

  /** What happens, each transition once and in order, over as many connections as it takes. */
  async *feed(asked: FeedAsked): AsyncGenerator<Record<string, Json>, void, undefined> {
    // Several transitions may have one revision. So it is resumed behind the revision before the last one, and those of
    // the last one that were given already are passed over.
    const place: Place = { before: undefined, last: undefined, given: 0 };
    for (let tries = 0; ; ) {
      const headers: Record<string, string> = { ...(await this.headers()), accept: "text/event-stream" };
      if (place.before !== undefined) headers["last-event-id"] = place.before;
      let wait = backoff(tries);
      try {
        const query = new URLSearchParams();
        if (asked.from !== undefined) query.append("from", asked.from);
        if (asked.subject !== undefined) query.append("subject", asked.subject);
        for (const part of asked.key ?? []) query.append("key", String(part));
        for await (const told of this.followed(`feed?${query.toString()}`, headers, asked.signal, place)) {
          tries = 0;
          yield told;
        }
      } catch (error) {
        if (asked.signal?.aborted === true) return;
        if (error instanceof Problem) {
          if (!RETRIED.has(error.status)) throw error;
          const after = error.body["retryAfterMs"];
          wait = Math.max(wait, typeof after === "number" ? after : 0);
        }
      }
      if (asked.signal?.aborted === true) return;
      tries += 1;
      try {
        await pause(wait, asked.signal);
      } catch {
        return;
      }
    }
  }

  private async *followed(
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
    place: Place,
  ): AsyncGenerator<Record<string, Json>, void, undefined> {
    const limit = new AbortController();
    const stop = (): void => limit.abort(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const alive = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => limit.abort(new Error("the feed is quiet for too long")), this.options.quietMs ?? 60_000);
    };
    try {
      alive();
      const response = await this.fetch(this.url(path), { headers, signal: limit.signal });
      if (response.status !== 200 || response.body === null) {
        const body = (await response.json().catch(() => ({}))) as Record<string, Json>;
        const retryAfter = { retryAfterMs: retryAfterMs(response.headers) };
        throw problemOf({ status: response.status, headers: response.headers, body: { ...body, ...retryAfter } });
      }
      let passOver = place.given;
      const passedOver = place.last;
      const decoder = new TextDecoder();
      let rest = "";
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        alive();
        rest += decoder.decode(value, { stream: true });
        for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
          let id: string | undefined;
          let data: string | undefined;
          for (const line of rest.slice(0, end).split("\n")) {
            if (line.startsWith("id: ")) id = line.slice(4);
            else if (line.startsWith("data: ")) data = (data === undefined ? "" : `${data}\n`) + line.slice(6);
          }
          rest = rest.slice(end + 2);
          if (id === undefined) continue;
          if (data === undefined) {
            // only says how far it has come; where it begins again says nothing new
            if (id !== place.before) Object.assign(place, { before: id, last: undefined, given: 0 });
            continue;
          }
          if (id === passedOver && passOver > 0) {
            passOver -= 1;
            continue;
          }
          if (id === place.last) place.given += 1;
          else Object.assign(place, { before: place.last ?? place.before, last: id, given: 1 });
          yield JSON.parse(data) as Record<string, Json>;
        }
      }
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      limit.abort();
    }
  }
}

type Place = { before: string | undefined; last: string | undefined; given: number };

/** What of the feed is asked for. */
export interface FeedAsked {
  /** Strictly after this revision; "start" for all that is kept, "now" unless said. */
  from?: string;
  /** Only changes of records of this subject. */
  subject?: string;
  /** Only changes of this record, part by part. */
  key?: readonly (string | number)[];
  /** Ends it. */
  signal?: AbortSignal;
}
