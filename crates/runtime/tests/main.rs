//! All tests of the runtime, in one program.

mod answers;
mod apart;
#[path = "stored/archive.rs"]
mod archive;
mod aside;
mod asking;
mod blobs;
mod calls;
mod children;
mod copied;
mod distant;
mod due;
mod events;
mod examples;
mod explained;
mod kept;
mod linear;
mod linearizable;
mod listening;
mod messages;
mod past;
mod ranges;
mod reads;
mod replace;
mod restored;
mod retention;
mod secrets;
mod simulated;
mod soft;
mod stored;
mod support;
mod text;
mod torture;
mod versions;
mod views;
mod visibility;
