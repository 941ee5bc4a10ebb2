//! What PostgreSQL is asked: its tables and functions, and every statement that is sent while a store is open. As text
//! alone, so that `explain` prints what `store-postgres` sends without knowing how anything is sent.

/// What leads from each version of the schema to the next. A step that was released is never changed.
pub const SCHEMA: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];

/// The schema that a store has, if its address names no other.
pub const USUAL_SCHEMA: &str = "steadfast";

/// The position of the commit that wrote the record `r`.
pub const WRITTEN_AT: &str =
    "CASE WHEN r.version >= 4503599627370496 THEN r.position ELSE r.version END";

/// What the parameters of [`Requests::commit`] are, in their order: as many as it has places.
pub const COMMIT_TYPES: [&str; 16] = [
    "uuid[]",
    "bigint[]",
    "boolean[]",
    "bytea[]",
    "integer[]",
    "bytea[]",
    "bigint[]",
    "integer[]",
    "bytea[]",
    "bytea[]",
    "integer[]",
    "integer[]",
    "integer[]",
    "boolean[]",
    "bigint[]",
    "bytea[]",
];

/// The statements, for one schema.
#[derive(Clone, Debug)]
pub struct Requests {
    schema: String,
    pub commit: String,
    pub outcome: String,
    pub read: String,
    pub feed: String,
    pub trim: String,
    pub sweep: String,
    pub sweep_blobs: String,
    pub blob_piece: String,
    pub blob_finish: String,
    pub blob_forget: String,
    pub blob_get: String,
    pub blob_next: String,
    pub blob_list: String,
    pub blob_delete: String,
}

pub const CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// The head of the feed and records are of one moment, since they are of one statement.
const HEAD: &str = "SELECT h.position, NULL::bytea, NULL::bigint, NULL::bytea";

impl Requests {
    pub fn new(schema: &str) -> Self {
        let s = schema;
        Requests {
            schema: s.into(),
            commit: format!(
                "SELECT positions, conflicts, last_position \
                 FROM {s}.commit_4($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)"
            ),
            outcome: format!("SELECT {s}.outcome_1($1)"),
            read: format!(
                "{HEAD} FROM {s}.head h UNION ALL \
                 SELECT NULL, r.key, r.version, r.value FROM {s}.record r WHERE r.key = ANY ($1)"
            ),
            feed: format!(
                "SELECT h.position, h.floor, NULL::bytea FROM {s}.head h UNION ALL \
                 (SELECT c.position, NULL, c.entries FROM {s}.commits c \
                 WHERE c.position > $1 AND c.entries IS NOT NULL ORDER BY c.position LIMIT $2)"
            ),
            trim: format!(
                "UPDATE {s}.head SET floor = greatest(floor, $1) WHERE position >= $1 RETURNING floor"
            ),
            sweep: format!("SELECT {s}.sweep_1()"),
            sweep_blobs: format!("SELECT {s}.sweep_blobs_2()"),
            blob_piece: format!(
                "INSERT INTO {s}.blob_piece (upload, number, piece) VALUES ($1, $2, $3) \
                 ON CONFLICT DO NOTHING"
            ),
            blob_finish: format!("SELECT {s}.finish_blob_2($1, $2, $3)"),
            blob_forget: format!("DELETE FROM {s}.blob_piece WHERE upload = $1"),
            blob_get: format!("SELECT b.bytes FROM {s}.blob b WHERE b.hash = $1"),
            blob_next: format!(
                "SELECT p.piece FROM {s}.blob b JOIN {s}.blob_piece p ON p.upload = b.upload \
                 WHERE b.hash = $1 AND p.number = $2"
            ),
            blob_list: format!(
                "SELECT b.hash, b.bytes FROM {s}.blob b WHERE b.hash > $1 ORDER BY b.hash LIMIT $2"
            ),
            blob_delete: format!("SELECT {s}.delete_blob_2($1)"),
        }
    }

    /// From `$1` on, with an end before `$3`, at most `$2`.
    pub fn scan(&self, ends: bool, reverse: bool) -> String {
        let s = &self.schema;
        let end = if ends { "AND r.key < $3" } else { "" };
        let order = if reverse { "DESC" } else { "ASC" };
        format!(
            "{HEAD} FROM {s}.head h UNION ALL \
             (SELECT NULL, r.key, r.version, r.value FROM {s}.record r \
             WHERE r.key >= $1 {end} ORDER BY r.key {order} LIMIT $2)"
        )
    }

    /// News are told and heard under this name.
    pub fn channel(&self) -> String {
        format!("steadfast_{}", self.schema)
    }
}
