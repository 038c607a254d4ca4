//! Puts a view together, part by part, from what is on the machine's disk.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::view::{Access, Part};

/// Links that lead to links: as many as the system itself follows.
const MOST_LINKS: usize = 40;
/// Beside a folder of programs, what they need to run.
const BESIDE_PROGRAMS: [&str; 3] = ["lib", "lib64", "libexec"];

#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) parts: Vec<Part>,
    /// Where agents can write, on the machine's disk and without links.
    touched: Vec<PathBuf>,
}

impl Plan {
    pub(super) fn new(touched: Vec<PathBuf>) -> Self {
        Self { parts: Vec::new(), touched }
    }

    /// Where a path leads. `None` when there is nothing, or when a link on the way may be of an agent's making.
    pub(super) fn real(&self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok()?;
        let is_planted = |link: &Path| self.touched.iter().any(|touched| link.starts_with(touched));
        (!links(path).iter().any(|(at, _)| is_planted(at))).then_some(real)
    }

    /// A path of the machine at its own place, and the links that lead there. What does not exist is left out.
    pub(super) fn show(&mut self, path: &Path, access: Access) {
        let Some(real) = self.real(path) else { return };
        self.links_to(path);
        if access == Access::Write || !self.is_seen(&real) {
            self.bind(&real, &real, access);
        }
    }

    /// Something of the machine, somewhere else or once more. `from` is free of links.
    pub(super) fn bind(&mut self, from: &Path, at: &Path, access: Access) {
        self.parts.push(Part::Bind { from: from.to_owned(), at: at.to_owned(), access });
    }

    pub(super) fn memory(&mut self, at: &Path, percent: u8) {
        self.parts.push(Part::Memory { at: at.to_owned(), percent });
    }

    /// Hides what is seen of a path so far. It may be behind links.
    pub(super) fn hide(&mut self, path: &Path) {
        if let Ok(real) = path.canonicalize()
            && (self.is_seen(&real) || self.parts.iter().any(|part| part.at().starts_with(&real)))
        {
            self.void(real);
        }
    }

    pub(super) fn void(&mut self, at: PathBuf) {
        self.parts.push(Part::Void { at });
    }

    /// A folder of programs, with the libraries beside it.
    pub(super) fn show_programs(&mut self, folder: &Path) {
        self.show(folder, Access::Read);
        if folder.ends_with("bin")
            && let Some(prefix) = folder.parent()
        {
            for name in BESIDE_PROGRAMS {
                self.show(&prefix.join(name), Access::Read);
            }
        }
    }

    /// Whether something was put at this very path.
    pub(super) fn has(&self, at: &Path) -> bool {
        self.parts.iter().any(|part| part.at() == at)
    }

    /// Whether a path is there already, as the machine has it.
    fn is_seen(&self, real: &Path) -> bool {
        let over = self.parts.iter().rev().find(|part| real.starts_with(part.at()));
        matches!(over, Some(Part::Bind { from, at, .. }) if from == at)
    }

    /// The links on the way to a path.
    pub(super) fn links_to(&mut self, path: &Path) {
        for (at, to) in links(path) {
            if !self.is_seen(&at) && !self.has(&at) {
                self.parts.push(Part::Link { at, to });
            }
        }
    }
}

/// The links on the way to a path: where each is, without links, and what it says.
fn links(path: &Path) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    let mut at = PathBuf::from("/");
    let mut ahead = components(path);
    while let Some(name) = ahead.pop_front() {
        if name == ".." {
            at.pop();
            continue;
        }
        at.push(name);
        let Ok(to) = fs::read_link(&at) else { continue };
        if found.len() == MOST_LINKS {
            break;
        }
        found.push((at.clone(), to.clone()));
        at.pop();
        if to.is_absolute() {
            at = PathBuf::from("/");
        }
        for name in components(&to).into_iter().rev() {
            ahead.push_front(name);
        }
    }
    found
}

fn components(path: &Path) -> VecDeque<OsString> {
    let is_step = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
    path.components().filter(is_step).map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_behind_links_is_shown_with_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        fs::create_dir_all(root.join("real/deep")).expect("folders");
        symlink("real", root.join("near")).expect("a link");
        symlink(root.join("near/deep"), root.join("far")).expect("a link");

        let mut plan = Plan::default();
        plan.show(&root.join("far"), Access::Read);
        let deep = root.join("real/deep");
        let expected = [
            Part::Link { at: root.join("far"), to: root.join("near/deep") },
            Part::Link { at: root.join("near"), to: "real".into() },
            Part::Bind { from: deep.clone(), at: deep.clone(), access: Access::Read },
        ];
        assert_eq!(plan.parts, expected);

        plan.show(&deep, Access::Read);
        assert_eq!(plan.parts, expected, "it is seen already");
        plan.show(&root.join("missing"), Access::Read);
        assert_eq!(plan.parts, expected, "what is not there is left out");
        plan.hide(&root);
        assert_eq!(plan.parts.last(), Some(&Part::Void { at: root }), "what holds a part is hidden with it");
    }

    #[test]
    fn a_link_where_agents_write_leads_nowhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        for name in ["secret", "login/own", "tools"] {
            fs::create_dir_all(root.join(name)).expect("folders");
        }
        symlink(root.join("secret"), root.join("login/planted")).expect("a link");
        symlink("../login/planted", root.join("tools/indirect")).expect("a link");
        symlink(root.join("login"), root.join("near")).expect("a link");

        let plan = Plan::new(vec![root.join("login")]);
        for planted in ["login/planted", "near/planted", "tools/indirect"] {
            assert_eq!(plan.real(&root.join(planted)), None, "{planted}");
        }
        for honest in ["login", "near", "login/own", "near/own"] {
            assert!(plan.real(&root.join(honest)).is_some(), "{honest}");
        }
    }
}
