//! Every setting that can be given: its key in `hedgerow.toml` and its environment variable.

/// One setting.
#[derive(Debug)]
pub(super) struct Key {
    /// The key in the file, with its table.
    pub(super) name: &'static str,
    pub(super) variable: Option<&'static str>,
    /// The least and the greatest value of a number; text otherwise.
    pub(super) range: Option<(u32, u32)>,
    /// Never shown.
    pub(super) is_secret: bool,
}

impl Key {
    const fn text(name: &'static str, variable: Option<&'static str>) -> Self {
        Self { name, variable, range: None, is_secret: false }
    }

    const fn number(name: &'static str, variable: &'static str, range: (u32, u32)) -> Self {
        Self { variable: Some(variable), ..Self::plain_number(name, range) }
    }

    /// A number that has no variable.
    const fn plain_number(name: &'static str, range: (u32, u32)) -> Self {
        Self { name, variable: None, range: Some(range), is_secret: false }
    }
}

/// The home is not a key of the file: the file is in it.
pub(super) const HOME: Key = Key::text("home", Some("HEDGEROW_HOME"));

pub(super) const DATABASE_URL: Key = Key { is_secret: true, ..Key::text("database_url", Some("DATABASE_URL")) };
pub(super) const WORKTREES_BASE: Key = Key::text("worktrees.base", Some("WORKTREE_BASE"));
pub(super) const MAX_PER_CODEBASE: Key =
    Key::number("worktrees.max_per_codebase", "MAX_WORKTREES_PER_CODEBASE", (0, 10_000));
pub(super) const BRANCH_PREFIX: Key = Key::text("worktrees.branch_prefix", None);
pub(super) const PULL_REF: Key = Key::text("worktrees.pull_ref", None);
pub(super) const STALE_AFTER_DAYS: Key = Key::number("cleanup.stale_after_days", "STALE_THRESHOLD_DAYS", (1, 36_500));
pub(super) const CLEANUP_EVERY_HOURS: Key = Key::number("cleanup.every_hours", "CLEANUP_INTERVAL_HOURS", (0, 8760));
pub(super) const TRASH_KEEP_DAYS: Key = Key::plain_number("trash.keep_days", (0, 36_500));
pub(super) const VAULT_KEEP_DAYS: Key = Key::plain_number("vault.keep_days", (1, 36_500));
pub(super) const LOW_SPACE_PERCENT: Key = Key::plain_number("trash.low_space_percent", (0, 90));
pub(super) const REMOTE: Key = Key::text("remote", None);
pub(super) const BASE_BRANCH: Key = Key::text("base_branch", None);
pub(super) const ALLOWED_ROOT: Key = Key::text("allowed_root", Some("ALLOWED_ROOT_DIRECTORY"));
pub(super) const NODE: Key = Key::text("node", None);
pub(super) const GIT: Key = Key::text("git", None);

/// In the order they are shown.
pub(super) const ALL: &[&Key] = &[
    &DATABASE_URL,
    &WORKTREES_BASE,
    &MAX_PER_CODEBASE,
    &BRANCH_PREFIX,
    &PULL_REF,
    &STALE_AFTER_DAYS,
    &CLEANUP_EVERY_HOURS,
    &TRASH_KEEP_DAYS,
    &LOW_SPACE_PERCENT,
    &VAULT_KEEP_DAYS,
    &REMOTE,
    &BASE_BRANCH,
    &ALLOWED_ROOT,
    &NODE,
    &GIT,
];

/// Where GitHub and those like it publish the head of a pull request.
pub(super) const DEFAULT_PULL_REF: &str = "refs/pull/{number}/head";

/// Every environment variable that is a setting.
pub(super) fn variables() -> impl Iterator<Item = &'static str> {
    [&HOME].into_iter().chain(ALL.iter().copied()).filter_map(|key| key.variable)
}
