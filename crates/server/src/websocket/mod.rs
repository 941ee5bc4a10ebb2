//! WebSockets (RFC 6455), as far as a server of texts needs them: the handshake, what comes, and what is
//! said. Messages are read where they lie, and whatever is said goes out in one write.

mod frames;
mod handshake;

pub use frames::{Came, Frames, close, pong, text};
pub use handshake::{accepted, key, names_protocol, token};
