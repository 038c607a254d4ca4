//! What a caged program sees of the machine: plain data. The server plans it, the supervisor builds it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The cage of one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct View {
    pub(super) layer: Layer,
    /// Where the program starts.
    pub(super) folder: PathBuf,
    /// The program's home. What stands there in the way of a part is its own making, and gives way.
    pub(super) home: PathBuf,
    /// From the outside to the inside: what comes later lies on top.
    pub(super) parts: Vec<Part>,
    /// Built only to see that it can be: no program is started in it.
    pub(super) is_trial: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Layer {
    /// A file tree of its own, and rules inside it.
    Tree,
    /// Rules alone, on the machine's own tree.
    Rules,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Part {
    /// What the machine has at `from`, which has no link in it.
    Bind { from: PathBuf, at: PathBuf, access: Access },
    /// A symbolic link.
    Link { at: PathBuf, to: PathBuf },
    /// A new folder in memory, of at most so much of it.
    Memory { at: PathBuf, percent: u8 },
    /// An empty file or folder, whichever is there.
    Void { at: PathBuf },
}

impl Part {
    pub(super) fn at(&self) -> &Path {
        match self {
            Self::Bind { at, .. } | Self::Link { at, .. } | Self::Memory { at, .. } | Self::Void { at } => at,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Access {
    Read,
    Write,
}

impl View {
    /// The least that shows whether views can be built here.
    pub(super) fn trial() -> Self {
        let parts = vec![
            Part::Bind { from: "/etc".into(), at: "/etc".into(), access: Access::Read },
            Part::Memory { at: "/tmp".into(), percent: 1 },
        ];
        Self { layer: Layer::Tree, folder: "/".into(), home: "/tmp".into(), parts, is_trial: true }
    }

    pub(crate) const fn is_trial(&self) -> bool {
        self.is_trial
    }

    pub(crate) fn has_tree(&self) -> bool {
        self.layer == Layer::Tree
    }

    /// As it is passed to the supervisor. `None` when a path is not UTF-8.
    pub(crate) fn written(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    pub(crate) fn read(written: &str) -> Result<Self, String> {
        serde_json::from_str(written).map_err(|error| error.to_string())
    }
}
