//! The engine, told in stories: real git, a real store, real files, whole requests.

mod acts;
mod adopting;
mod cleaning;
mod crashing;
mod creating;
mod failing;
mod guarding;
mod limits;
mod looking;
mod naming;
mod offline;
mod pull_requests;
mod removing;
mod resolving;
mod restoring;
mod sharing;
mod together;
mod unusual;
mod witness;
