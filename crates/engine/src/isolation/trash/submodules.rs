//! Submodules of an environment that moves: their repositories are in the admin folder and stay, their files move.
//!
//! Each side names the other by a path, usually a relative one. Both are brought up to date, and a relative path stays
//! relative, so that a move there and back changes nothing.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::explain::Trouble;

/// Makes submodules and their repositories find each other after a move. Harmless when they do already.
pub(super) fn relink(admin: &Path, from: &Path, to: &Path) -> Result<(), Trouble> {
    let modules = admin.join("modules");
    if !modules.is_dir() {
        return Ok(());
    }
    for config in module_configs(&modules, 0) {
        let gitdir = config.parent().unwrap_or(&modules);
        let text = fs::read_to_string(&config).map_err(Trouble::folder(&config))?;
        let Some((moved, files)) = moved_config(&text, gitdir, from, to) else { continue };
        replace(&config, &moved)?;
        let link = files.join(".git");
        if let Ok(text) = fs::read_to_string(&link)
            && let Some(target) = text.trim_end().strip_prefix("gitdir: ")
            && normal(&files.join(target)) != normal(gitdir)
        {
            let target = relative(gitdir, &files);
            replace(&link, &format!("gitdir: {}\n", target.display()))?;
        }
    }
    Ok(())
}

fn replace(file: &Path, text: &str) -> Result<(), Trouble> {
    let folder = file.parent().unwrap_or(file);
    let staged = tempfile::NamedTempFile::new_in(folder).map_err(Trouble::folder(file))?;
    fs::write(staged.path(), text).map_err(Trouble::folder(file))?;
    let mode = fs::metadata(file).map_err(Trouble::folder(file))?.permissions();
    fs::set_permissions(staged.path(), mode).map_err(Trouble::folder(file))?;
    staged.persist(file).map_err(|error| Trouble::folder(file)(error.error))?;
    Ok(())
}

/// Submodules may have submodules; deeper than this nobody nests them.
const MAX_DEPTH: usize = 12;

fn module_configs(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut configs = Vec::new();
    if folder.join("HEAD").is_file() && folder.join("config").is_file() {
        configs.push(folder.join("config"));
    }
    let inside = if configs.is_empty() { folder.to_owned() } else { folder.join("modules") };
    if depth < MAX_DEPTH
        && let Ok(entries) = fs::read_dir(inside)
    {
        let folders = entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        configs.extend(folders.flat_map(|entry| module_configs(&entry.path(), depth + 1)));
    }
    configs
}

/// The config text with `core.worktree` pointing below `to` where it pointed below `from`, and the folder it then names.
fn moved_config(text: &str, gitdir: &Path, from: &Path, to: &Path) -> Option<(String, PathBuf)> {
    let line = text.lines().find(|line| line.trim_start().starts_with("worktree = "))?;
    let value = line.trim_start().strip_prefix("worktree = ")?;
    let absolute = normal(&gitdir.join(value));
    let files = normal(to).join(absolute.strip_prefix(normal(from)).ok()?);
    let value = if Path::new(value).is_absolute() { files.clone() } else { relative(&files, gitdir) };
    Some((text.replacen(line, &format!("\tworktree = {}", value.display()), 1), files))
}

/// The way to `target` from the folder `from`.
fn relative(target: &Path, from: &Path) -> PathBuf {
    let (target, from) = (normal(target), normal(from));
    let shared = target.components().zip(from.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(target.components().skip(shared)).collect()
}

/// The path without `..`, by its words alone: the old place may be gone.
fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            Component::CurDir => {}
            other => parts.push(other),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_stays_relative_and_a_move_back_changes_nothing() {
        let gitdir = Path::new("/code/shop/.git/worktrees/w/modules/lib");
        let text = "[core]\n\tworktree = ../../../../../../../trees/shop/w/lib\n";
        let (there, files) = moved_config(text, gitdir, Path::new("/trees/shop/w"), Path::new("/trees/.trash/1"))
            .expect("it points below the old place");
        assert_eq!(files, Path::new("/trees/.trash/1/lib"));
        assert_eq!(there, "[core]\n\tworktree = ../../../../../../../trees/.trash/1/lib\n");
        assert_eq!(moved_config(&there, gitdir, Path::new("/trees/shop/w"), Path::new("/trees/.trash/1")), None);
        let back = moved_config(&there, gitdir, Path::new("/trees/.trash/1"), Path::new("/trees/shop/w"));
        assert_eq!(back.expect("it points into the trash").0, text);
    }
}
