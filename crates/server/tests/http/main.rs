//! The server as its clients see it: in this process, over real connections.

mod aside;
mod blobs;
mod bounded;
mod clients;
mod doors;
mod feed;
mod keys;
mod limits;
mod many;
mod pages;
mod refusals;
mod replacing;
mod security;
mod steps;
mod store_trouble;
mod support;
mod verdicts;
mod views;
mod ways;
