//! The kinds of problems that any door may have to tell, each once: what it is called. What it is
//! answered with and what a client does about it is said by each door.

/// A kind of problem.
#[derive(PartialEq, Eq, Debug)]
pub struct Kind {
    pub name: &'static str,
    /// the same whenever it occurs
    pub title: &'static str,
}

macro_rules! kinds {
    ($($constant:ident = $name:literal $title:literal;)*) => {
        $(pub const $constant: Kind = Kind { name: $name, title: $title };)*

        /// All of them.
        pub const ALL: &[&Kind] = &[$(&$constant),*];
    };
}

kinds! {
    MALFORMED = "malformed" "the request is malformed";
    KEY_MALFORMED = "key-malformed" "the idempotency key is malformed";
    KEY_NEEDED = "key-needed" "this step asks for an idempotency key";
    UNAUTHENTICATED = "unauthenticated" "the caller is not known";
    WRONG_ROLE = "wrong-role" "the caller has another role";
    OPERATORS_ONLY = "operators-only" "this is for whoever operates the service";
    HIDDEN = "hidden" "the caller may not see what the answer is made of";
    UNKNOWN = "unknown" "there is no such thing";
    ABSENT = "absent" "there is no such record";
    KEY_UNDER_WAY = "key-under-way" "the first request with this idempotency key is still under way";
    UNSAFE_CHANGE = "unsafe-change" "what is stored stands in the way of the change";
    UNPROVED = "unproved" "the verdict on the text does not allow it";
    CANNOT = "cannot" "this cannot be done now";
    FORGOTTEN = "forgotten" "the feed no longer goes back this far";
    CHANGED = "changed" "the record is not as it was expected";
    TOO_LARGE = "too-large" "the request is too large";
    WRONG_TYPE = "wrong-type" "a value does not fit";
    KEY_USED = "key-used" "the idempotency key was used for another request";
    NOT_HANDED_OUT = "not-handed-out" "this was not handed out for this call";
    NOT_A_DESIGN = "not-a-design" "the text does not compile";
    OVERLOADED = "overloaded" "the server is busy";
    RATE = "rate" "the caller calls too often";
    QUOTA = "quota" "the caller has used up its share";
    BROKEN = "broken" "the store is in trouble";
    REPLACED = "replaced" "the design is being replaced";
    NOT_REACHED = "not-reached" "the view did not reach the revision in time";
    UNAVAILABLE = "unavailable" "this is not available now";
    SECRET_KEY = "secret-key" "a secret cannot be compared";
    STOPPING = "stopping" "the server is stopping";
}
