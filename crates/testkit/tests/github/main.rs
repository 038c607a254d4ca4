//! The fake GitHub, held to what the real one does.

mod app;
mod caller;
mod deliveries;
mod git;
mod graphql;
mod hook;
mod rest;
mod story;
mod trouble;
