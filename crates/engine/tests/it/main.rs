//! The engine, told in stories: real git, a real store, real files, whole requests.

mod acts;
mod adopting;
mod cleaning;
mod closing;
mod crashing;
mod creating;
mod doctoring;
mod failing;
mod guarding;
mod keeping;
mod limits;
mod looking;
mod naming;
mod offline;
mod pull_requests;
mod purging;
mod reconciling;
mod removing;
mod resolving;
mod restoring;
mod scheduling;
mod sharing;
mod together;
mod undoing;
mod unusual;
mod witness;
