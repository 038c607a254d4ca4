//! The crash harness: a real process, killed in the middle of an act, and what must hold after the next start.
//!
//! An [`Act`] is done to a [`Scene`] by a child process, which dies where an [`Aim`] says: at one of the steps the engine
//! tells, at a system call of git or of its own, or at any moment. Production code knows nothing of this: steps are lines
//! of its log, system calls are met by `strace`. Then the machine "restarts" and [`check`] looks whether every promise was
//! kept. [`matrix`] does that for every point there is.

pub mod act;
pub mod aim;
pub mod check;
pub mod child;
mod converge;
pub mod count;
pub mod kept;
pub mod matrix;
mod returning;
pub mod run;
pub mod scenery;
pub mod stage;
mod undoing;
mod vault;

pub use act::{Act, Scene};
pub use aim::{Aim, Kill};
pub use matrix::{Matrix, Report};
