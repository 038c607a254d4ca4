//! Deliveries through the real route: every type of event, whole and broken, signed and not. Whatever comes in, the answer
//! is never that we failed.

#[path = "webhook/broken.rs"]
mod broken;
#[path = "webhook/corpus.rs"]
mod corpus;
#[path = "webhook/door.rs"]
mod door;
#[path = "webhook/manners.rs"]
mod manners;
