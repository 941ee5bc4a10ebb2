//! The server as its clients see it: in this process, over real connections.

mod aside;
mod blobs;
mod bounded;
mod clients;
mod cors;
mod doors;
mod feed;
mod keys;
mod limits;
mod live;
mod many;
mod pages;
mod records;
mod refusals;
mod replacing;
mod security;
mod steps;
mod store_trouble;
mod support;
mod verdicts;
mod view_forms;
mod views;
mod ways;
