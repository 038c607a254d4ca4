//! `doctor`: does everything Hedgerow relies on hold, and do store, git and disk agree?
//!
//! Looking changes nothing. [`Engine::fix`] does what needs no person, and then looks again: only what is not found any
//! more counts as put right.

mod assistants;
mod codebase;
mod cure;
mod environment;
mod finding;
mod folders;
mod git_locks;
mod machine;
mod refs;
mod vault;

pub use finding::{Finding, Level};

use crate::engine::Engine;
use crate::failure::Outcome;

impl Engine {
    /// Looks at everything and changes nothing.
    pub async fn doctor(&self) -> Outcome<Vec<Finding>> {
        let mut findings = self.check_machine().await?;
        // It starts programs, which makes for a large future.
        findings.extend(Box::pin(self.check_assistants()).await);
        for codebase in self.codebases().await? {
            findings.extend(self.check_codebase(&codebase).await?);
        }
        findings.extend(self.check_leases().await?);
        findings.extend(self.check_folders().await?);
        findings.extend(self.check_vault().await?);
        Ok(findings)
    }

    /// Puts right what can be without a person, and looks again. First what was put right, then how things are now.
    pub async fn fix(&self) -> Outcome<Vec<Finding>> {
        let mut before = self.doctor().await?;
        before.retain(|finding| finding.cure.is_some());
        let mut failed = Vec::new();
        for finding in &before {
            if let Err(error) = self.apply(finding).await {
                failed.push((finding.clone(), error.to_string()));
            }
        }
        self.reconcile().await?;
        let mut after = self.doctor().await?;
        for finding in &mut after {
            if let Some((_, why)) = failed.iter().find(|(failed, _)| failed.is_same(finding)) {
                finding.hint = Some(format!("it could not be put right: {why}"));
            }
        }
        before.retain(|finding| !after.iter().any(|now| now.is_same(finding)));
        let put_right = before.into_iter().map(|finding| Finding { fixed: true, hint: None, ..finding });
        Ok(put_right.chain(after).collect())
    }
}
