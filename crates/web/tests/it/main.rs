//! What is served, asked over real connections: a real engine, a real store, a real listener.

mod door;
mod environments;
mod events;
mod gateway;
mod guards;
mod hooks;
mod malformed;
mod messages;
mod models;
mod probes;
mod runs;
mod serving;
