//! The kinds of problems, each once: what it is called, its status, and the page behind its `type`.

use axum::http::StatusCode;

/// A kind of problem. `type` in an answer is `/problems/` and its name.
#[derive(PartialEq, Eq, Debug)]
pub struct Kind {
    pub name: &'static str,
    pub status: StatusCode,
    /// the same whenever it occurs
    pub title: &'static str,
    /// when it occurs
    pub means: &'static str,
    /// what a client does about it
    pub help: &'static str,
}

macro_rules! kinds {
    ($($constant:ident = $status:ident $name:literal $title:literal $means:literal $help:literal;)*) => {
        $(pub const $constant: Kind = Kind {
            name: $name,
            status: StatusCode::$status,
            title: $title,
            means: $means,
            help: $help,
        };)*

        /// All of them: a kind that is declared here has a page.
        pub const ALL: &[&Kind] = &[$(&$constant),*];
    };
}

kinds! {
    MALFORMED = BAD_REQUEST "malformed" "the request is malformed"
        "The body is no JSON or not of the right shape, a path or a header cannot be read, or a revision was never given out here. `detail` says which, and `pointer` where in the body."
        "Send it again when it is put right: nothing was done.";
    KEY_MALFORMED = BAD_REQUEST "key-malformed" "the idempotency key is malformed"
        "`Idempotency-Key` is one text of 1 to 255 visible ASCII characters."
        "Choose a key of that form; a random identifier does.";
    KEY_NEEDED = BAD_REQUEST "key-needed" "this step asks for an idempotency key"
        "The design says that this step is called with a key, so that a second try is answered like the first."
        "Send `Idempotency-Key` with a value of your choice, the same when you try again.";
    UNAUTHENTICATED = UNAUTHORIZED "unauthenticated" "the caller is not known"
        "There is no token, or one that does not hold: it is forged, has expired or was revoked, or is for another service."
        "Present a token that holds, as `Authorization: Bearer …`.";
    NO_TOKEN = UNAUTHORIZED "no-token" "no token"
        "The form of the console came without a token, or with one that is too long to be one."
        "Paste the whole token.";
    OTHER_ORIGIN = FORBIDDEN "other-origin" "sent from elsewhere"
        "A form of the console was sent by a page of another origin, which may not act for whoever is signed in."
        "Use the console's own pages.";
    WRONG_HOST = FORBIDDEN "wrong-host" "this server is known by another name"
        "A server that lets callers in without tokens answers only to `localhost` and to loopback addresses, so that a page of somebody else's cannot call it."
        "Call it by such a name, or start it with tokens.";
    WRONG_ROLE = FORBIDDEN "wrong-role" "the caller has another role"
        "The steps of an actor are for callers whose token has that role."
        "Call with a token that has it.";
    OPERATORS_ONLY = FORBIDDEN "operators-only" "this is for whoever operates the service"
        "Copying the store, replacing a design and looking into what runs take a token with all roles."
        "Call with such a token.";
    HIDDEN = FORBIDDEN "hidden" "the caller may not see what the answer is made of"
        "The answer counts or joins what `visible to` hides from this caller, so that even its number would tell."
        "Ask with a role that sees it.";
    UNKNOWN = NOT_FOUND "unknown" "there is no such thing"
        "No design, step, read, view, record or page has this name. What a caller may not see is not there, either."
        "`/openapi.json` lists what is served.";
    ABSENT = NOT_FOUND "absent" "there is no such record"
        "No record of this subject has this key, or none of it may be seen by this caller."
        "A step of the design makes one.";
    METHOD = METHOD_NOT_ALLOWED "method" "the method does not apply here"
        "The path is served, but by other methods."
        "`Allow` says which.";
    SLOW_BODY = REQUEST_TIMEOUT "slow-body" "the body did not come in time"
        "A body has `body_ms_max` to arrive."
        "Send it again: nothing was done.";
    KEY_UNDER_WAY = CONFLICT "key-under-way" "the first request with this idempotency key is still under way"
        "Two requests with one key came at the same time, and the first is not answered yet."
        "Ask again with the same key in a moment; the answer will be that of the first.";
    UNSAFE_CHANGE = CONFLICT "unsafe-change" "what is stored stands in the way of the change"
        "Stored truth cannot follow the new version of the design. `obstacles` says why, and for which records."
        "Change the design so that it can, or name what may be dropped.";
    UNPROVED = CONFLICT "unproved" "the verdict on the text does not allow it"
        "The text is violated, or this server serves only what is proved and it is not. `verdict` says what is known of it."
        "`steadfast check` shows why. What is violated can be served with `?unproved=true`, unless the server was started with `--require`.";
    CANNOT = CONFLICT "cannot" "this cannot be done now"
        "What an operator asked for is not possible in this state. `detail` says why."
        "Put the cause right, and ask again.";
    FORGOTTEN = GONE "forgotten" "the feed no longer goes back this far"
        "The feed is kept for a while. The revision that was asked for lies before `floor`."
        "Read the truth anew, then follow from the revision in `floor`.";
    CHANGED = PRECONDITION_FAILED "changed" "the record is not as it was expected"
        "The record does not have the tag that `If-Match` names: somebody changed it in between."
        "Read it again, and decide anew.";
    TOO_LARGE = PAYLOAD_TOO_LARGE "too-large" "the request is too large"
        "The body, the path, the batch or what the step would write is beyond its limit, which `detail` names."
        "Send less at a time; whoever operates the server may raise the limit.";
    NOT_JSON = UNSUPPORTED_MEDIA_TYPE "not-json" "the body is not said to be JSON"
        "Bodies are JSON and say so: a page of another origin cannot send that unasked."
        "Send `Content-Type: application/json`.";
    NOT_CONTENT = UNSUPPORTED_MEDIA_TYPE "not-content" "the body is not said to be content"
        "Content says that it is: a page of another origin cannot send that unasked."
        "Send `Content-Type: application/octet-stream`.";
    WRONG_TYPE = UNPROCESSABLE_ENTITY "wrong-type" "a value does not fit"
        "A parameter is missing, is not known, or is not a value of its type. `pointer` leads to it."
        "Put the value right: nothing was done.";
    KEY_USED = UNPROCESSABLE_ENTITY "key-used" "the idempotency key was used for another request"
        "The same key came with other parameters."
        "Use a new key for a new request, and the old one to ask for the same again.";
    NOT_HANDED_OUT = UNPROCESSABLE_ENTITY "not-handed-out" "this was not handed out for this call"
        "What a caller remembers is sealed by the server and taken back only from that caller, for that record. `pointer` leads to what is something else."
        "Send the value that an earlier answer gave, or leave it out.";
    NOT_A_DESIGN = UNPROCESSABLE_ENTITY "not-a-design" "the text does not compile"
        "The text that was to replace a design has errors, which `detail` lists."
        "`steadfast check` shows them with their places.";
    OVERLOADED = TOO_MANY_REQUESTS "overloaded" "the server is busy"
        "More requests are being answered, or more clients follow a feed, than the limits allow."
        "Nothing was done; come again after the time in `Retry-After`.";
    BROKEN = INTERNAL_SERVER_ERROR "broken" "the store is in trouble"
        "The store failed while this was under way: it is not known whether it was done."
        "Read before trying again, or try again with the same idempotency key.";
    REPLACED = SERVICE_UNAVAILABLE "replaced" "the design is being replaced"
        "Another version of the design is taking the place of the one that was asked."
        "Nothing was done; come again after the time in `Retry-After`.";
    NOT_REACHED = SERVICE_UNAVAILABLE "not-reached" "the view did not reach the revision in time"
        "The view was asked for what it shows at a revision that it did not come to within `wait_ms_max`."
        "Ask again, or for an older revision.";
    UNAVAILABLE = SERVICE_UNAVAILABLE "unavailable" "this is not available now"
        "The store takes nothing, callers cannot be known, or the server's own work does not go on. `detail` says which."
        "Nothing was done; come again later.";
    STOPPING = SERVICE_UNAVAILABLE "stopping" "the server is stopping"
        "The server finishes what it accepted and takes nothing new."
        "Nothing was done; come again in a moment.";
}

pub fn named(name: &str) -> Option<&'static Kind> {
    ALL.iter().find(|kind| kind.name == name).copied()
}
