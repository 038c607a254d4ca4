//! The services outside, each faked once: what cannot be had in a test, or must not be reached from one.

pub mod github;
pub mod model;
