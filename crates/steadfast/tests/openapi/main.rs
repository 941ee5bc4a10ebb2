//! The OpenAPI document of a running server, in the hands of tools and clients that others wrote.

mod generated;
pub mod python;
mod schema;
pub mod served;
