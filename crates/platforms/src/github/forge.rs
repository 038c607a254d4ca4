//! What the engine asks about issues, pull requests and people.
