//! "Is it merged?" asked of real repositories, one story each.

mod cost;
mod diff;
mod evil;
mod landed;
mod met;
mod not_merged;
mod reverted;
mod story;
mod unknown;
