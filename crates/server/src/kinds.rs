//! The kinds of problems as they are told over HTTP, each once: its status, and the page behind its
//! `type`. Most are the gateway's; those that only HTTP has are declared here.

use axum::http::StatusCode;
pub use gateway::kinds::*;

macro_rules! own {
    ($($constant:ident = $name:literal $title:literal;)*) => {
        $(pub const $constant: Kind = Kind { name: $name, title: $title };)*
    };
}

own! {
    NO_TOKEN = "no-token" "no token";
    OTHER_ORIGIN = "other-origin" "sent from elsewhere";
    WRONG_HOST = "wrong-host" "this server is known by another name";
    METHOD = "method" "the method does not apply here";
    LARGE_HEAD = "large-head" "the head of the request is too large";
    SLOW_BODY = "slow-body" "the body did not come in time";
    NOT_JSON = "not-json" "the request does not say that its body is JSON";
    NOT_CONTENT = "not-content" "the request does not say that its body is content";
}

/// A kind over HTTP. `type` in an answer is `/problems/` and its name.
pub struct Spelled {
    pub kind: &'static Kind,
    pub status: StatusCode,
    /// when it occurs
    pub means: &'static str,
    /// what a client does about it
    pub help: &'static str,
}

macro_rules! spelled {
    ($($constant:ident = $status:ident $means:literal $help:literal;)*) => {
        /// All of them: a kind has a status and a page.
        pub const SPELLED: &[Spelled] = &[$(Spelled {
            kind: &$constant,
            status: StatusCode::$status,
            means: $means,
            help: $help,
        }),*];
    };
}

spelled! {
    MALFORMED = BAD_REQUEST
        "The body is no JSON or not of the right shape, a path or a header cannot be read, or a revision was never given out here. `detail` says which, and `pointer` where in the body."
        "Send it again when it is put right: nothing was done.";
    KEY_MALFORMED = BAD_REQUEST
        "`Idempotency-Key` is one text of 1 to 255 visible ASCII characters."
        "Choose a key of that form; a random identifier does.";
    KEY_NEEDED = BAD_REQUEST
        "The design says that this step is called with a key, so that a second try is answered like the first."
        "Send `Idempotency-Key` with a value of your choice, the same when you try again.";
    UNAUTHENTICATED = UNAUTHORIZED
        "There is no token, or one that does not hold: it is forged, has expired or was revoked, or is for another service."
        "Present a token that holds, as `Authorization: Bearer …`.";
    NO_TOKEN = UNAUTHORIZED
        "The form of the console came without a token, or with one that is too long to be one."
        "Paste the whole token.";
    OTHER_ORIGIN = FORBIDDEN
        "A browser sent this from a page that this server did not give out. Such a page may not act for the person who looks at it."
        "Use the console's own pages, or call from a program that is no browser.";
    WRONG_HOST = FORBIDDEN
        "A server that lets callers in without tokens answers only to `localhost` and to loopback addresses, so that a page of somebody else's cannot call it."
        "Call it by such a name, or start it with tokens.";
    WRONG_ROLE = FORBIDDEN
        "The steps of an actor are for callers whose token has that role; content is brought by those who have a step to mention it in."
        "Call with a token that has it.";
    OPERATORS_ONLY = FORBIDDEN
        "Copying the store, replacing a design and looking into what runs take a token with all roles; metrics also take one with the role `steadfast:metrics`."
        "Call with such a token.";
    HIDDEN = FORBIDDEN
        "The answer counts or joins what `visible to` hides from this caller, so that even its number would tell."
        "Ask with a role that sees it.";
    UNKNOWN = NOT_FOUND
        "No design, step, read, view, record or page has this name. What a caller may not see is not there, either."
        "`/openapi.json` lists what is served.";
    ABSENT = NOT_FOUND
        "No record of this subject has this key, or none of it may be seen by this caller."
        "A step of the design makes one.";
    METHOD = METHOD_NOT_ALLOWED
        "The path is served, but by other methods."
        "`Allow` says which.";
    SLOW_BODY = REQUEST_TIMEOUT
        "A body has `body_ms_max` to arrive; content has it for each MiB."
        "Send it again: nothing was done.";
    KEY_UNDER_WAY = CONFLICT
        "Two requests with one key came at the same time, and the first is not answered yet."
        "Ask again with the same key in a moment; the answer will be that of the first.";
    UNSAFE_CHANGE = CONFLICT
        "Stored truth cannot follow the new version of the design. `obstacles` says why, and for which records."
        "Change the design so that it can, or name what may be dropped.";
    UNPROVED = CONFLICT
        "The text is violated, or this server serves only what is proved and it is not. `verdict` says what is known of it."
        "`steadfast check` shows why. What is violated can be served with `?unproved=true`, unless the server was started with `--require`.";
    CANNOT = CONFLICT
        "What an operator asked for is not possible in this state. `detail` says why."
        "Put the cause right, and ask again.";
    FORGOTTEN = GONE
        "The feed is kept for a while. The revision that was asked for lies before `floor`."
        "Read the truth anew, then follow from the revision in `floor`.";
    CHANGED = PRECONDITION_FAILED
        "The record does not have the tag that `If-Match` names: somebody changed it in between."
        "Read it again, and decide anew.";
    TOO_LARGE = PAYLOAD_TOO_LARGE
        "The body, the path, the batch or what the step would write is beyond its limit, which `detail` names."
        "Send less at a time; whoever operates the server may raise the limit.";
    LARGE_HEAD = REQUEST_HEADER_FIELDS_TOO_LARGE
        "The request line and the headers together have `head_bytes_max` bytes at most."
        "Send fewer or shorter headers: nothing was done.";
    NOT_JSON = UNSUPPORTED_MEDIA_TYPE
        "Bodies are JSON and say so: a page of another origin cannot send that unasked."
        "Send `Content-Type: application/json`.";
    NOT_CONTENT = UNSUPPORTED_MEDIA_TYPE
        "Content says that it is: a page of another origin cannot send that unasked."
        "Send `Content-Type: application/octet-stream`.";
    WRONG_TYPE = UNPROCESSABLE_ENTITY
        "A parameter is missing, is not known, or is not a value of its type. `pointer` leads to it."
        "Put the value right: nothing was done.";
    KEY_USED = UNPROCESSABLE_ENTITY
        "The same key came with other parameters."
        "Use a new key for a new request, and the old one to ask for the same again.";
    NOT_HANDED_OUT = UNPROCESSABLE_ENTITY
        "What a caller remembers is sealed by the server and taken back only from that caller, for that record. `pointer` leads to what is something else."
        "Send the value that an earlier answer gave, or leave it out.";
    NOT_A_DESIGN = UNPROCESSABLE_ENTITY
        "The text that was to replace a design has errors, which `detail` lists."
        "`steadfast check` shows them with their places.";
    OVERLOADED = TOO_MANY_REQUESTS
        "More requests are being answered, more bytes of bodies are held, or more clients follow a feed, than the limits allow."
        "Nothing was done; come again after the time in `Retry-After`.";
    RATE = TOO_MANY_REQUESTS
        "The design limits how often one caller may call this, with `limit … per … per me`."
        "Nothing was done; come again after the time in `Retry-After`.";
    QUOTA = TOO_MANY_REQUESTS
        "A caller stores at most `upload_bytes_hour_max` bytes of content in an hour."
        "Nothing was stored; come again after the time in `Retry-After`.";
    BROKEN = INTERNAL_SERVER_ERROR
        "The store failed while this was under way: it is not known whether it was done."
        "Read before trying again, or try again with the same idempotency key.";
    REPLACED = SERVICE_UNAVAILABLE
        "Another version of the design is taking the place of the one that was asked."
        "Nothing was done; come again after the time in `Retry-After`.";
    NOT_REACHED = SERVICE_UNAVAILABLE
        "The view was asked for what it shows at a revision that it did not come to within `wait_ms_max`."
        "Ask again, or for an older revision.";
    UNAVAILABLE = SERVICE_UNAVAILABLE
        "The store takes nothing, callers cannot be known, or the server's own work does not go on. `detail` says which."
        "Nothing was done; come again later.";
    SECRET_KEY = SERVICE_UNAVAILABLE
        "The step compares a secret that was stored under a key which this server does not have, or whose keys cannot be read. `detail` names the key."
        "Nothing was done. An operator puts the key back, or a step of the design stores a new secret.";
    STOPPING = SERVICE_UNAVAILABLE
        "The server finishes what it accepted and takes nothing new."
        "Nothing was done; come again in a moment.";
}

pub fn named(name: &str) -> Option<&'static Spelled> {
    SPELLED.iter().find(|spelled| spelled.kind.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_gateway_is_spelled() {
        for kind in ALL {
            assert!(named(kind.name).is_some(), "{}", kind.name);
        }
    }
}
