//! What the vault must hold after a kill, and what it must not.

use std::collections::BTreeSet;
use std::fs;

use hedgerow_core::EnvironmentId;

use super::stage::Stage;

/// Saved states that nobody can use: begun and not finished, or finished and not written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strays {
    /// A purge died. What it left of each environment waits for the next one.
    Tolerated,
    /// The next one came.
    Gone,
}

/// Every saved state can be used, and few others are there.
pub(super) async fn look(stage: &Stage, strays: Strays, violations: &mut Vec<String>) {
    let engine = &stage.world.engine;
    let saved = engine.verify_saved(None).await.expect("the vault can be asked");
    let expiring = stage.bystanders.as_ref().map(|bystanders| bystanders.expiring.id);
    for state in &saved {
        // One whose time is over may be half gone until the next round.
        let is_going = strays == Strays::Tolerated && Some(state.environment.id) == expiring;
        if let Err(failure) = &state.outcome
            && !is_going
        {
            violations.push(format!("a saved state of {} is bad: {failure}", state.environment.name()));
        }
    }
    let known: BTreeSet<String> = saved.iter().map(|state| state.saved.id.to_string()).collect();
    let expiring = expiring.map(|id| id.to_string());
    let found = found(stage).into_iter().filter(|(environment, id)| {
        let is_going = strays == Strays::Tolerated && *environment == expiring;
        !known.contains(id) && !is_going
    });
    let found: BTreeSet<String> = found.map(|(_, id)| id).collect();
    let most = usize::from(strays == Strays::Tolerated);
    if found.len() > most {
        violations.push(format!("the vault or the refs hold what nobody knows: {found:?}"));
    }
}

/// Whether an environment has a saved state that can be used.
pub(super) async fn holds(stage: &Stage, environment: EnvironmentId) -> bool {
    let saved = stage.world.engine.verify_saved(None).await.expect("the vault can be asked");
    saved.iter().any(|state| state.environment.id == environment && state.outcome.is_ok())
}

/// Everything that carries the id of a saved state, with the environment where the place tells: folders, refs.
fn found(stage: &Stage) -> Vec<(Option<String>, String)> {
    let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let inside = |path| fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    let mut found = Vec::new();
    for environment in inside(stage.world.settings().home.join("vault")) {
        for state in inside(environment.path()) {
            found.push((Some(name(&environment)), name(&state).trim_start_matches(".passing-").to_owned()));
        }
    }
    let refs = stage.repo.git(&["for-each-ref", "--format=%(refname)", "refs/hedgerow/saved/"]);
    let ids = refs.lines().filter_map(|line| line.split('/').nth(3));
    found.extend(ids.map(|id| (None, id.to_owned())));
    found
}
