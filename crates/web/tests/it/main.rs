//! What is served, asked over real connections: a real engine, a real store, a real listener.

mod door;
mod environments;
mod events;
mod guards;
mod malformed;
mod messages;
mod probes;
mod serving;
