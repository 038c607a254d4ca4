//! The table of commands: what `/help` shows, what a wrong use is answered with, and what a typing error is near to.

/// One line of `/help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Help {
    pub usage: &'static str,
    pub about: &'static str,
    pub example: Option<&'static str>,
}

const fn row(usage: &'static str, about: &'static str) -> Help {
    Help { usage, about, example: None }
}

const fn shown(usage: &'static str, about: &'static str, example: &'static str) -> Help {
    Help { usage, about, example: Some(example) }
}

/// Every command, in the order of `/help`.
pub const COMMANDS: &[Help] = &[
    row("/help", "this list"),
    row("/status", "codebase, environment, session and queue of this conversation"),
    shown("/clone <url> [name]", "add a codebase", "/clone https://github.com/acme/shop"),
    row("/repos", "list the codebases"),
    shown("/repo <name>", "choose the codebase of this conversation", "/repo shop"),
    row("/repo-remove <name>", "forget a codebase"),
    shown("/setcwd <subfolder>", "where in the environment the agent starts", "/setcwd services/api"),
    row("/getcwd", "show where the agent starts"),
    shown("/assistant <name>", "which agent this conversation uses", "/assistant claude"),
    row("/reset", "end the session"),
    row("/stop", "stop the run and keep its changes"),
    row("/undo", "take back what the last turn changed"),
    shown(
        "/worktree create <branch> [--base <branch>]",
        "an environment on that very branch",
        "/worktree create feature/auth --base develop",
    ),
    row("/worktree list", "all environments of the codebase"),
    shown("/worktree remove [name] [--force]", "remove one, by default the current one", "/worktree remove issue-42"),
    row("/worktree restore [name]", "bring one back from the trash"),
    shown("/worktree link <work>", "use the environment of another work", "/worktree link issue-42"),
    shown(
        "/worktree cleanup merged|stale|orphans [--dry-run]",
        "remove what is no longer needed",
        "/worktree cleanup merged --dry-run",
    ),
    row("/worktree orphans", "every git worktree, those unknown to Hedgerow marked"),
    row("/worktree keep", "pin the environment: automation leaves it alone"),
    row("/worktree unkeep", "unpin it"),
    row("/worktree setup", "run the init script again"),
    row("/worktree diff", "what changed in it"),
    row("/worktree sync", "bring the base's news in"),
    row("/worktree merge [--squash|--rebase]", "merge it into the base"),
    row("/worktree abort", "give it up: into the trash, branch saved"),
    row("/worktree pr", "push and open a pull request"),
    row("/commands", "list the prompt templates of the codebase"),
    shown(
        "/command-set <name> <path>",
        "add a prompt template from the repository",
        "/command-set plan .claude/commands/plan.md",
    ),
    row("/load-commands <folder>", "add every prompt template of a folder"),
];

/// What `/worktree` alone is answered with.
pub(super) const WORKTREE: &str =
    "/worktree create|list|remove|restore|link|cleanup|orphans|keep|unkeep|setup|diff|sync|merge|abort|pr";

impl Help {
    /// The fixed words of the usage, without the slash: `worktree create`.
    pub fn name(&self) -> &'static str {
        let fixed = |word: &&str| !word.starts_with(['<', '[']) && !word.contains('|');
        let end: usize = self.usage.split(' ').take_while(fixed).map(|word| word.len() + 1).sum();
        &self.usage[1..end - 1]
    }
}

/// How the command of this name is used.
pub(super) fn usage(name: &str) -> &'static str {
    COMMANDS.iter().find(|help| help.name() == name).map_or("/help", |help| help.usage)
}

/// The answer to `/help`.
pub fn help() -> String {
    let mut lines = Vec::with_capacity(COMMANDS.len());
    for help in COMMANDS {
        lines.push(match help.example {
            Some(example) => format!("`{}` - {} (`{example}`)", help.usage, help.about),
            None => format!("`{}` - {}", help.usage, help.about),
        });
    }
    lines.push("`/<name> [args]` - run a prompt template of the codebase".to_owned());
    lines.join("\n")
}

/// The command that was probably meant: `status` for `stauts`, `worktree list` for `list` and `worktree lits`.
pub fn nearest(typed: &str) -> Option<&'static str> {
    let typed = typed.to_lowercase();
    // The first word is right: it must not make the second one look nearer than it is.
    let typed = typed.strip_prefix("worktree ").unwrap_or(&typed);
    let typed: Vec<char> = typed.chars().take(MAX_TYPED).collect();
    let names = COMMANDS.iter().map(Help::name).chain(["worktree"]);
    names
        .map(|name| (distance(&typed, name.rsplit(' ').next().unwrap_or(name)), name))
        // A third of the letters wrong is a typing error; more is another word.
        .filter(|(distance, _)| *distance * 3 <= typed.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Longer than any command with any typing error that is still recognised.
const MAX_TYPED: usize = 40;

/// How many letters must be added, left out, changed or swapped with their neighbour.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let changed = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = changed.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}
