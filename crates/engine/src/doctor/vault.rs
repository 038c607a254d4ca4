//! The vault: is every saved state there, and does it look whole? Reading all of it is `vault verify`'s.

use std::fs;
use std::path::Path;

use hedgerow_core::saved::SavedState;

use super::finding::{Cure, Finding};
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::vault::{Manifest, Vault};

impl Engine {
    pub(super) async fn check_vault(&self) -> Outcome<Vec<Finding>> {
        let vault = Vault::new(&self.settings.home);
        let saved = self.store.saved_here(&self.settings.node).await?;
        let mut findings = Vec::new();
        for state in &saved {
            let name = self.store.environment(state.environment).await?.map(|row| row.name().to_owned());
            let name = name.unwrap_or_else(|| state.environment.to_string());
            findings.extend(check_saved(&vault, state, &name));
            if let Some(remains) = &state.remains {
                let detail = format!("`{name}` is saved, and {} is not deleted yet", remains.display());
                let hint = "`hedgerow doctor --fix` tries again, and says what stands in the way";
                findings.push(Finding::warning("trash", detail, hint).cured_by(Cure::Reconcile));
            }
        }
        for folder in vault.folders().into_iter().filter(|folder| !is_known(folder, &saved)) {
            let detail = format!("{} is in the vault, and no row names it", folder.display());
            let hint = "its manifest.json says what it is; nothing deletes it";
            findings.push(Finding::warning("vault", detail, hint));
        }
        Ok(findings)
    }
}

fn check_saved(vault: &Vault, saved: &SavedState, name: &str) -> Option<Finding> {
    let place = vault.place(saved.environment, saved.id);
    let problem = |why: String| {
        let detail = format!("what was saved of `{name}` cannot be used: {why}");
        Some(Finding::problem("vault", detail, "`hedgerow vault verify --all` reads it through"))
    };
    let manifest = match Manifest::read(&place) {
        Ok(manifest) => manifest,
        Err(error) => return problem(format!("{}: {error}", place.display())),
    };
    let sealed = [Some(&manifest.archive), manifest.pack.as_ref()];
    let is_short = |name: &str, bytes: u64| fs::metadata(place.join(name)).map_or(true, |found| found.len() != bytes);
    let bad = sealed.into_iter().flatten().find(|sealed| is_short(&sealed.name, sealed.bytes));
    bad.and_then(|sealed| problem(format!("{} is not there, or not whole", sealed.name)))
}

fn is_known(folder: &Path, saved: &[SavedState]) -> bool {
    let name = |path: Option<&Path>| path.and_then(Path::file_name).and_then(|name| name.to_str()).map(str::to_owned);
    let (environment, state) = (name(folder.parent()), name(Some(folder)));
    saved.iter().any(|saved| {
        environment.as_deref() == Some(&saved.environment.to_string())
            && state.as_deref() == Some(&saved.id.to_string())
    })
}
