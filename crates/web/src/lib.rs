//! What is served over HTTP: the `http` platform, the API, and the live events.
//!
//! A thin caller of the engine like the command line. Messages go in through the inbox port and are on disk before they
//! are acknowledged; what people read back is what the store says.

mod api;
mod error;
mod feed;
mod gateway;
mod guard;
mod hook;
mod metrics;
mod openapi;
mod patient;
mod platform;
mod reading;
mod routes;
mod serve;
mod web;

pub use gateway::CallLimits;
pub use hedgerow_engine::Token;
pub use hook::Hook;
pub use platform::HttpPlatform;
pub use routes::{router, router_with};
pub use serve::{serve, serve_models, serve_routes};

pub use web::{Limits, Web};
