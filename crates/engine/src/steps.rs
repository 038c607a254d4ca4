//! The steps of an act that can be interrupted, told to the log one by one.
//!
//! Whatever dies between two of them is settled at the next start. The crash tests listen here, and kill the process at
//! each in turn.

/// The target of these lines in the log.
pub const TARGET: &str = "hedgerow::step";

/// An act got this far: everything before this line is done, nothing after it is.
pub(crate) fn reached(step: &'static str) {
    tracing::trace!(target: TARGET, step);
}
