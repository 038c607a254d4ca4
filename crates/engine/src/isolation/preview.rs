//! What a saved state would bring back, shown without bringing it back: unpacked into a passing folder beside it.

use std::path::Path;

use hedgerow_core::{Codebase, CommitSha, Environment};

use super::rebuild::{WAITING, unpack, write_clean};
use super::save::apart;
use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::vault::manifest::{ARCHIVE, OBJECTS};

impl WorktreeProvider {
    /// The patch of everything in a saved state since its base. The repository is read, never written.
    pub(super) async fn diff_saved(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        from: &Path,
        stat: bool,
    ) -> Result<Vec<u8>, Trouble> {
        let repo = self.git.open(codebase).await?;
        let manifest = self.check_saved(&repo, from, None).await?;
        let scratch = tempfile::Builder::new().prefix(".shown-").tempdir_in(from).map_err(Trouble::folder(from))?;
        let (files, records) = (scratch.path().join("files"), scratch.path().join("records"));
        for folder in [&files, &records] {
            std::fs::create_dir(folder).map_err(Trouble::folder(folder))?;
        }
        let source = from.join(ARCHIVE);
        let (unpacked, changed) =
            apart(&files, &records, move |files, records| unpack(&source, files, records)).await?;
        let shown = repo.beside(&files, &records.join(WAITING), &from.join(OBJECTS));
        write_clean(&shown, &records, unpacked, &changed, manifest.modes).await?;
        let head = manifest.head.as_deref().and_then(|text| CommitSha::parse(text).ok());
        let bases = self.tips_of_base(codebase, environment).await?;
        let fork = match (bases.last(), &head) {
            (Some(base), Some(head)) => shown.merge_base(base, head).await?,
            _ => None,
        };
        match fork.or_else(|| environment.base_sha.clone()).or(head) {
            Some(since) => Ok(shown.diff(&since, stat).await?),
            None => Ok(Vec::new()),
        }
    }
}
