//! From a tree to a design that makes sense: names resolved, types checked, rules held.

pub mod model;
