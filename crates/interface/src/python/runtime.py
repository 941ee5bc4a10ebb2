# ---- what every client has: requests, tries, memory, the feed ----

Json = Any
# A fault, alone or behind the clause in which it occurred ("free.overflow").
Fault = Literal[
    "no_such_record", "deleted", "already_exists", "no_parent", "empty_key", "has_children", "nothing",
    "null_value", "overflow", "division_by_zero", "collection_full", "out_of_range", "unsupported",
]


class Legal(TypedDict):
    """What the caller could do instead."""

    actor: str
    operation: str
    params: Dict[str, Json]


class Problem(Exception):
    """The server says that something is wrong: RFC 9457."""

    def __init__(self, status: int, body: Mapping[str, Json], retry_after_s: Optional[float] = None) -> None:
        self.status = status
        self.body = dict(body)
        # names it: "unauthenticated", "wrong-role", "wrong-type" and so on
        self.kind = str(body.get("type", "")).replace("/problems/", "", 1)
        self.title = str(body.get("title", "")) or f"status {status}"
        self.detail = str(body.get("detail", ""))
        # the field of the body that is wrong, as RFC 6901 has it
        self.pointer: Optional[str] = body.get("pointer")
        self.retry_after_s = retry_after_s
        super().__init__(f"{self.title}: {self.detail}" if self.detail else self.title)


class Refused(Problem):
    """A clause of the guard does not hold now. Nothing was changed."""

    def __init__(self, status: int, body: Mapping[str, Json]) -> None:
        super().__init__(status, body)
        self.legal: List[Legal] = body.get("legal", [])
        self.prevents: List[str] = body.get("prevents", [])


class Unanswered(Exception):
    """No answer came in time: it is not known whether the step was taken. Asking again with `key` is safe."""

    def __init__(self, key: Optional[str], tries: int, cause: BaseException) -> None:
        self.key = key
        self.tries = tries
        super().__init__(f"no answer after {tries} {'try' if tries == 1 else 'tries'}: {cause}")


class Memory:
    """What the caller remembers: sealed texts that the server handed out, by field and record."""

    def __init__(self, held: Optional[Mapping[str, str]] = None) -> None:
        self._held: Dict[str, str] = dict(held or {})

    def get(self, place: str) -> Optional[str]:
        return self._held.get(place)

    def set(self, place: str, value: Optional[str]) -> None:
        if value is None:
            self._held.pop(place, None)
        else:
            self._held[place] = value

    def clear(self) -> None:
        self._held.clear()

    def to_dict(self) -> Dict[str, str]:
        """To be kept, and given to a later client of the same principal."""
        return dict(self._held)


# One field of memory that a call reads or is handed: its name in bodies, the actor whose it is, the field, the parameter
# whose record it belongs to, and whether the call reads it.
_Remembered = Tuple[str, str, str, Optional[str], bool]

_RETRIED = frozenset((408, 429, 500, 502, 503, 504))
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0


def _backoff(tries: int) -> float:
    """Half of it is chance, so that many who were turned away do not come again at once."""
    most = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** min(tries, 16))
    return float(most / 2 + most / 2 * random.random())


def _retry_after(headers: Mapping[str, str]) -> Optional[float]:
    said = headers.get("Retry-After")
    if said is None:
        return None
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _key_text(key: Json) -> str:
    """`7` and `"7"` are one key, and so are `"a"` and `["a"]`."""
    return "\0".join(map(str, key)) if isinstance(key, (list, tuple)) else str(key)


class _Answered:
    def __init__(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        self.status = status
        self.headers = headers
        self.content = content

    def body(self) -> Dict[str, Json]:
        if "json" not in (self.headers.get("Content-Type") or ""):
            return {}
        parsed = json.loads(self.content)
        return parsed if isinstance(parsed, dict) else {}

    def problem(self) -> Problem:
        return Problem(self.status, self.body(), _retry_after(self.headers))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A token goes to the server that it is for, and to no other."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Connection:
    """Makes requests for all parts of a client. One of them may be used by several threads."""

    def __init__(
        self,
        design: str,
        base_url: str,
        token: Optional[Callable[[], str]],
        principal: Optional[str],
        timeout_s: float,
        patience_s: float,
        quiet_s: float,
        memory: Optional[Mapping[str, str]],
    ) -> None:
        self._base = f"{base_url.rstrip('/')}/v1/{design}/"
        self._token = token
        self._principal = principal
        self._timeout_s = timeout_s
        self._patience_s = patience_s
        self._quiet_s = quiet_s
        self._opener = urllib.request.build_opener(_NoRedirect)
        self.memory = Memory(memory)

    def _open(self, method: str, path: str, body: Optional[bytes], more: Mapping[str, str], timeout_s: float) -> Any:
        headers = dict(more)
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token()}"
        if self._principal is not None:
            headers["Steadfast-As"] = self._principal
        request = urllib.request.Request(self._base + path, data=body, headers=headers, method=method)
        try:
            return self._opener.open(request, timeout=timeout_s)
        except urllib.error.HTTPError as answer:
            return answer

    def request(self, method: str, path: str, body: Optional[bytes], more: Mapping[str, str]) -> _Answered:
        """Asks until there is an answer that trying again would not change. Every try is the same request."""
        until = time.monotonic() + self._patience_s
        tries = 0
        while True:
            tries += 1
            wait = _backoff(tries)
            failed: BaseException
            try:
                with self._open(method, path, body, more, self._timeout_s) as response:
                    answered = _Answered(response.status, response.headers, response.read())
                under_way = answered.status == 409 and answered.body().get("type") == "/problems/key-under-way"
                if answered.status not in _RETRIED and not under_way:
                    return answered
                problem = answered.problem()
                wait = max(wait, problem.retry_after_s or 0.0)
                failed = problem
            except (OSError, http.client.HTTPException) as error:
                failed = error
            if time.monotonic() + wait > until:
                # what was not done, by the word of the server, is no secret
                if isinstance(failed, Problem) and failed.status != 500:
                    raise failed
                raise Unanswered(more.get("Idempotency-Key"), tries, failed) from failed
            time.sleep(wait)

    def call(
        self,
        actor: str,
        operation: str,
        is_step: bool,
        params: Mapping[str, Json],
        remembered: Sequence[_Remembered],
        refused: Type[Refused],
        key: Optional[str],
        if_match: Optional[str],
    ) -> Any:
        """One step or read. A step always goes out under an idempotency key, the same for all its tries."""

        def place(of: _Remembered, given: Mapping[str, Json]) -> str:
            record = [] if of[3] is None else [_key_text(given.get(of[3]))]
            return "\1".join([of[1], of[2], *record])

        sent = {name: value for name, value in params.items() if value is not None}
        for one in remembered:
            held = self.memory.get(place(one, sent)) if one[4] else None
            if held is not None:
                sent[one[0]] = held
        headers = {"Content-Type": "application/json"}
        if is_step:
            headers["Idempotency-Key"] = key or str(uuid.uuid4())
        if if_match is not None:
            headers["If-Match"] = if_match
        answered = self.request("POST", f"{actor}/{operation}", json.dumps(sent).encode(), headers)
        body = answered.body()
        if answered.status == 409 and isinstance(body.get("guard"), str):
            raise refused(answered.status, body)
        if answered.status != 200:
            raise answered.problem()
        # a record that the server took is named by the answer alone
        chosen = body["result"] if is_step and isinstance(body["result"], dict) else {}
        given = {**sent, **chosen}
        for one in remembered:
            if one[0] in body["memory"]:
                self.memory.set(place(one, given), body["memory"][one[0]])
        return body

    def get(self, path: str, query: Mapping[str, Json]) -> _Answered:
        asked = []
        for name, value in query.items():
            if value is not None:
                is_list = isinstance(value, (list, tuple))
                asked.append((name, ",".join(map(_word, value)) if is_list else _word(value)))
        text = urllib.parse.urlencode(asked)
        return self.request("GET", f"{path}?{text}" if text else path, None, {})

    def view(self, name: str, query: Mapping[str, Json]) -> Any:
        answered = self.get(f"views/{name}", query)
        if answered.status != 200:
            raise answered.problem()
        return answered.body()

    def record(self, subject: str, key: Sequence[Json]) -> Any:
        """None: there is none, or none that the caller may see."""
        path = "/".join(urllib.parse.quote(_word(part), safe="") for part in (subject, *key))
        answered = self.get(path, {})
        body = answered.body()
        if answered.status == 404 and body.get("type") == "/problems/absent":
            return None
        if answered.status != 200:
            raise answered.problem()
        return {**body, "etag": answered.headers.get("ETag")}

    def list(self, subject: str, having: Mapping[str, Json]) -> Iterator[Any]:
        # None asks for records that have none
        asked: Dict[str, Json] = {name: "" if value is None else value for name, value in having.items()}
        while True:
            answered = self.get(urllib.parse.quote(subject, safe=""), asked)
            if answered.status != 200:
                raise answered.problem()
            page = answered.body()
            yield from page["records"]
            if page["next"] is None:
                return
            asked["after"] = page["next"]

    def store(self, content: bytes) -> str:
        answered = self.request("POST", "blobs", content, {"Content-Type": "application/octet-stream"})
        if answered.status != 200:
            raise answered.problem()
        return str(answered.body()["digest"])

    def content(self, digest: str) -> bytes:
        answered = self.request("GET", f"blobs/{urllib.parse.quote(digest, safe='')}", None, {})
        if answered.status != 200:
            raise answered.problem()
        return answered.content

    def feed(self, start: Optional[str], subject: Optional[str], key: Sequence[Json]) -> Iterator[Any]:
        """What happens, each transition once and in order, over as many connections as it takes."""
        asked = [("from", start)] if start is not None else []
        asked += [("subject", subject)] if subject is not None else []
        asked += [("key", _word(part)) for part in key]
        path = f"feed?{urllib.parse.urlencode(asked)}"
        place = _Place()
        tries = 0
        while True:
            wait = _backoff(tries)
            try:
                for told in self._followed(path, place):
                    tries = 0
                    yield told
            except Problem as problem:
                if problem.status not in _RETRIED:
                    raise
                wait = max(wait, problem.retry_after_s or 0.0)
            except (OSError, http.client.HTTPException):
                pass
            tries += 1
            time.sleep(wait)

    def _followed(self, path: str, place: _Place) -> Iterator[Any]:
        headers = {"Accept": "text/event-stream"}
        if place.before is not None:
            headers["Last-Event-ID"] = place.before
        with self._open("GET", path, None, headers, self._quiet_s) as response:
            if response.status != 200:
                raise _Answered(response.status, response.headers, response.read()).problem()
            passed_over, pass_over = place.last, place.given
            event: Dict[str, str] = {}
            for raw in response:
                line = raw.decode().rstrip("\n")
                if line != "":
                    name, _, value = line.partition(": ")
                    event[name] = f"{event[name]}\n{value}" if name == "data" and name in event else value
                    continue
                told, event = event, {}
                revision = told.get("id")
                if revision is None:
                    continue
                if "data" not in told:
                    # only says how far it has come; where it begins again says nothing new
                    if revision != place.before:
                        place.before, place.last, place.given = revision, None, 0
                    continue
                if revision == passed_over and pass_over > 0:
                    pass_over -= 1
                    continue
                if revision == place.last:
                    place.given += 1
                else:
                    place.before, place.last, place.given = place.last or place.before, revision, 1
                yield json.loads(told["data"])


class _Place:
    """Several transitions may have one revision. So a feed is resumed behind the revision before the last one, and those
    of the last one that were given already are passed over."""

    def __init__(self) -> None:
        self.before: Optional[str] = None
        self.last: Optional[str] = None
        self.given = 0


def _word(value: Json) -> str:
    """A value in an address, as answers spell it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
