//! Folders of conversations that have no environment: an empty one to talk in, or a view of the base commit to read.
//!
//! Neither is a place for work. They hold nothing that is not in the repository or in the conversation, and go when the
//! conversation has been silent for as long as an environment may be.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::{Codebase, ConversationId, Kind, UserError};

use crate::engine::Engine;
use crate::explain::Trouble;
use crate::failure::Outcome;
use crate::isolation::make_private;

/// In the scratch folder: the view, and the commit that it is of.
const VIEW: &str = "view";
const SEEN: &str = "view-of";

impl Engine {
    fn scratch(&self) -> PathBuf {
        self.settings.home.join("scratch")
    }

    /// The folder of a conversation; not made yet.
    pub(crate) fn scratch_folder(&self, conversation: ConversationId) -> PathBuf {
        self.scratch().join(conversation.to_string()).join("talk")
    }

    /// The files of the base commit in a folder of the conversation, to be read and not written. It is no git checkout:
    /// nothing done there can reach the repository.
    pub(crate) async fn base_view(&self, codebase: &Codebase, conversation: ConversationId) -> Outcome<PathBuf> {
        let at_base = self.at_base(codebase).await?;
        let Some(base) = at_base.base.clone() else {
            return Err(UserError::new(Kind::Failed, format!("`{}` has no commit yet", codebase.name)).into());
        };
        let folder = self.scratch().join(conversation.to_string());
        make_private(&folder).map_err(Trouble::folder(&folder))?;
        let (view, seen) = (folder.join(VIEW), folder.join(SEEN));
        let of = format!("{} {}", codebase.id, base.commit);
        if fs::read_to_string(&seen).is_ok_and(|was| was == of) && view.is_dir() {
            return Ok(view);
        }
        let packed = tempfile::tempfile_in(&folder).map_err(Trouble::folder(&folder))?;
        let packed = at_base.archive(packed).await?;
        let into = folder.clone();
        let made =
            tokio::task::spawn_blocking(move || lay_out(&into, packed, &of)).await.map_err(anyhow::Error::new)?;
        made.map_err(Trouble::folder(&folder))?;
        Ok(view)
    }

    /// Removes the folders of conversations that have been silent for long. What cannot be removed is tried again.
    pub(crate) async fn tidy_scratch(&self) -> Outcome<()> {
        let days = i64::from(self.settings.stale_after_days);
        let oldest = self.clock.now().plus_seconds(-days * 24 * 60 * 60);
        let Ok(folders) = fs::read_dir(self.scratch()) else { return Ok(()) };
        for folder in folders.flatten() {
            let Some(id) = folder.file_name().to_str().and_then(|name| name.parse::<ConversationId>().ok()) else {
                continue;
            };
            let known = self.store.conversation_by_id(id).await?;
            if known.is_none_or(|known| known.last_activity_at < oldest) && self.store.running_of(id).await?.is_none() {
                let path = folder.path();
                let removed = tokio::task::spawn_blocking(move || clear(&path)).await.map_err(anyhow::Error::new)?;
                if let Err(error) = removed {
                    tracing::warn!(conversation = %id, %error, "a scratch folder could not be removed");
                }
            }
        }
        Ok(())
    }
}

/// Replaces the view. What it is of is written last: a view that was begun is made anew.
fn lay_out(folder: &Path, packed: fs::File, of: &str) -> std::io::Result<()> {
    let (view, seen) = (folder.join(VIEW), folder.join(SEEN));
    match fs::remove_file(&seen) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    clear(&view)?;
    fs::create_dir(&view)?;
    let mut archive = tar::Archive::new(packed);
    archive.set_preserve_permissions(true);
    archive.unpack(&view)?;
    set_writable(&view, false)?;
    fs::write(&seen, of)
}

/// Removes a folder of ours, read-only parts included.
pub(crate) fn clear(folder: &Path) -> std::io::Result<()> {
    if fs::symlink_metadata(folder).is_err() {
        return Ok(());
    }
    set_writable(folder, true)?;
    fs::remove_dir_all(folder)
}

/// Takes or gives the owner's right to write, to everything below; links are left as they are.
pub(crate) fn set_writable(path: &Path, writable: bool) -> std::io::Result<()> {
    let about = fs::symlink_metadata(path)?;
    if about.is_symlink() {
        return Ok(());
    }
    let mode = about.permissions().mode();
    let mode = if writable { mode | 0o200 } else { mode & !0o222 };
    if about.is_dir() {
        if writable {
            fs::set_permissions(path, Permissions::from_mode(mode))?;
        }
        for entry in fs::read_dir(path)? {
            set_writable(&entry?.path(), writable)?;
        }
    }
    if !writable || !about.is_dir() {
        fs::set_permissions(path, Permissions::from_mode(mode))?;
    }
    Ok(())
}
