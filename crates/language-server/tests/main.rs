//! The server as an editor meets it.
