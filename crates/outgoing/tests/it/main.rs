//! Against a small HTTP server that says what it is told to say.

mod effects;
mod support;
mod webhooks;
