//! The store on a real PostgreSQL, which the tests start by themselves.

mod support;

mod conformance;
mod copying;
mod faults;
mod feeds;
mod opening;
mod sharing;
