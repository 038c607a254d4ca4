//! For tests only: a World with real repositories, a real git, a real store and a clock that tests move.
//!
//! Nothing of git, the store or the file system is faked. What is made up is the world around: people, time, remotes in
//! a folder next door.
#![expect(clippy::missing_panics_doc, reason = "what fails here fails the test, wherever it happens")]

pub mod brain;
pub mod cli;
pub mod clock;
pub mod crash;
pub mod database;
pub mod evil;
pub mod forge;
pub mod git;
pub mod http;
pub mod office;
pub mod outside;
pub mod repo;
pub mod talk;
pub mod tokens;
pub mod tree;
pub mod world;

pub use cli::Cli;
pub use clock::TestClock;
pub use database::TestDatabase;
pub use forge::Board;
pub use office::Office;
pub use repo::TestRepo;
pub use talk::Talk;
pub use tokens::Tokens;
pub use tree::Tree;
pub use world::World;
