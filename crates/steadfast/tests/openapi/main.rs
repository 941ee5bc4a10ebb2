//! The OpenAPI document of a running server, in the hands of tools and clients that others wrote.

mod generated;
mod python;
mod schema;
mod served;
