//! The command line as people and scripts meet it: the real binary, a real git, a real store. One test binary, because
//! linking takes longer than running.

mod agents;
mod alone;
mod chatting;
mod configuring;
mod desk;
mod doctoring;
mod failing_closed;
mod family;
mod github;
mod json;
mod load;
mod pages;
mod people;
mod processes;
mod rounds;
mod secrets;
mod serving;
mod supervising;
mod terminal;
mod undoing;
mod vault;
