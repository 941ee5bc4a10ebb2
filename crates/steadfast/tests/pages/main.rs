//! The documents are run: every command that a page shows is typed, and what it prints is compared.
//!
//! How a page is written so that it can be run stands in CONTRIBUTING.md, under "Documents".

mod commands;
mod parts;
mod session;
mod shown;
mod tasks;
mod tutorial;
