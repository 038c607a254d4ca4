//! Programs of assistants in their cage: what they can still do, and what they cannot.
#![cfg(target_os = "linux")]

mod ending;
mod escapes;
mod holding;
mod office;
mod weaker;
mod working;
