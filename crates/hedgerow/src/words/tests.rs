//! The sentences of the terminal, each once.

use std::path::PathBuf;

use hedgerow_core::environment::{Actor, NamedWork};
use hedgerow_core::{BranchName, CodebaseId, Environment, EnvironmentId, Work};

use super::*;

fn environment(work: Work, branch: &str) -> Environment {
    let branch = BranchName::parse(branch).expect("a branch");
    let (path, now) = (PathBuf::from("/trees/x"), Timestamp::from_millis(0));
    let named = NamedWork { name: work.to_string(), work };
    Environment {
        works: vec![named],
        ..Environment::new(EnvironmentId::new(), CodebaseId::new(), branch, path, Actor::automation(), now)
    }
}

#[test]
fn a_removal_says_how_to_undo_it() {
    let odd = environment(Work::Task("x$(id)".to_owned()), "x$(id)");
    let trashed = Removed::Trashed { environment: odd.clone(), branch_deleted: false };
    assert_eq!(undo(&trashed, None).as_deref(), Some("hedgerow env restore 'task-x$(id)'"));
    assert_eq!(undo(&trashed, Some("shop")).as_deref(), Some("hedgerow env restore 'task-x$(id)' --codebase shop"));
    let let_go = Removed::LetGo { environment: odd.clone() };
    assert_eq!(undo(&let_go, None).as_deref(), Some("hedgerow env adopt /trees/x"));
    assert_eq!(undo(&Removed::WasGone { environment: odd }, None), None);
}
