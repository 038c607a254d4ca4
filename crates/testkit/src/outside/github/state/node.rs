//! Names of things that hold across the whole GitHub: `IC_kwDO…`.

use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    User,
    Bot,
    Repository,
    Issue,
    PullRequest,
    Comment,
    Review,
    ReviewComment,
    Thread,
    Reaction,
    CheckRun,
    Label,
}

const PREFIXES: [(Kind, &str); 12] = [
    (Kind::User, "U_kgDO"),
    (Kind::Bot, "BOT_kgDO"),
    (Kind::Repository, "R_kgDO"),
    (Kind::Issue, "I_kwDO"),
    (Kind::PullRequest, "PR_kwDO"),
    (Kind::Comment, "IC_kwDO"),
    (Kind::Review, "PRR_kwDO"),
    (Kind::ReviewComment, "PRRC_kwDO"),
    (Kind::Thread, "PRRT_kwDO"),
    (Kind::Reaction, "REA_lADO"),
    (Kind::CheckRun, "CR_kwDO"),
    (Kind::Label, "LA_kwDO"),
];

/// A thing, by what it is and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Node(pub(crate) Kind, pub(crate) u64);

impl Node {
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (kind, prefix) = PREFIXES.iter().find(|(_, prefix)| text.starts_with(prefix))?;
        Some(Self(*kind, u64::from_str_radix(&text[prefix.len()..], 16).ok()?))
    }

    pub(crate) fn json(self) -> Value {
        json!(self.to_string())
    }
}

impl std::fmt::Display for Node {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let prefix = PREFIXES.iter().find(|(kind, _)| *kind == self.0).map_or("", |(_, prefix)| prefix);
        write!(out, "{prefix}{:08x}", self.1)
    }
}
