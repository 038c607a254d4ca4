//! Merged verdicts of many environments of one codebase. What they have in common, the repository and where its bases
//! are, is asked of git once.

use std::collections::HashMap;

use hedgerow_core::merged::Verdict;
use hedgerow_core::provider::Condition;
use hedgerow_core::{BranchName, Codebase, CommitSha, Environment};
use tokio::sync::OnceCell;

use crate::engine::Engine;
use crate::git::Repo;
use crate::merged::{self, Question};

/// For as long as one look at the codebase takes; a later look asks anew.
pub(crate) struct Verdicts<'a> {
    engine: &'a Engine,
    codebase: &'a Codebase,
    repo: OnceCell<Repo>,
    bases: HashMap<Option<BranchName>, Vec<CommitSha>>,
}

impl<'a> Verdicts<'a> {
    pub(crate) fn new(engine: &'a Engine, codebase: &'a Codebase) -> Self {
        Self { engine, codebase, repo: OnceCell::new(), bases: HashMap::new() }
    }

    /// Whether its work is in the base. Never a guess: what cannot be asked is unknown.
    pub(crate) async fn of(&mut self, environment: &Environment, condition: &Condition) -> Verdict {
        let Condition::Present(facts) = condition else { return Verdict::Unknown("it is not there".to_owned()) };
        let Some(tip) = &facts.head else { return Verdict::Unknown("it has no commit".to_owned()) };
        if !self.bases.contains_key(&environment.base) {
            match self.engine.provider.base_tips(self.codebase, environment).await {
                Ok(tips) => drop(self.bases.insert(environment.base.clone(), tips)),
                Err(error) => return Verdict::Unknown(error.to_string()),
            }
        }
        let targets = &self.bases[&environment.base];
        if targets.is_empty() {
            return Verdict::Unknown("its base is not known".to_owned());
        }
        let repo = match self.repo.get_or_try_init(|| self.engine.git.open(self.codebase)).await {
            Ok(repo) => repo,
            Err(error) => return Verdict::Unknown(error.reason()),
        };
        let recorded_base = environment.base_sha.as_ref();
        // The forge's word counts for the very commit that it merged.
        let pr = environment.pr.as_ref().and_then(|pr| Some((pr.number, pr.merged_at()?.clone())));
        merged::verdict(repo, &Question { tip, targets, recorded_base, pr }).await
    }
}
