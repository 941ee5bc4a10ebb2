//! Numbers that stand for things: each is an index into one list.

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of the `index`th thing; designs are far smaller than `u32::MAX`.
            pub fn of(index: usize) -> $name {
                $name(index as u32)
            }
        }
    )*};
}

ids! {
    /// into `Design::actors`
    ActorId
    /// into `Design::enumerations`
    EnumId
    /// into `Design::blobs`
    BlobId
    /// into `Design::subjects`
    SubjectId
    /// into `Design::events`
    EventId
    /// into `Design::operations`
    OperationId
    /// into `Design::views`
    ViewId
    /// into `Subject::attributes`
    AttrId
    /// into `Subject::states`
    StateId
    /// into `Subject::counters`
    CounterId
    /// into the `locals` of the operation, view, invariant … in which it stands
    LocalId
    /// into `Operation::memory`
    MemoryUseId
    /// into `Actor::memory`
    MemoryId
    /// numbers the statements of one operation, in the order written
    StmtId
}
