//! The table of commands: what `/help` shows, what a wrong use is answered with, and what a typing error is near to.

/// One command of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Help {
    pub usage: &'static str,
    pub about: &'static str,
    pub example: Option<&'static str>,
    /// What to do instead of a command that is understood and that this build does not have. `/help` leaves it out.
    pub instead: Option<&'static str>,
}

const fn row(usage: &'static str, about: &'static str) -> Help {
    Help { usage, about, example: None, instead: None }
}

const fn shown(usage: &'static str, about: &'static str, example: &'static str) -> Help {
    Help { example: Some(example), ..row(usage, about) }
}

const fn later(usage: &'static str, about: &'static str, instead: &'static str) -> Help {
    Help { instead: Some(instead), ..row(usage, about) }
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
    shown("/assistant [name]", "which agent this conversation uses; alone, those there are", "/assistant claude"),
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
    later("/worktree setup", "run the init script again", "ask the agent to run what the repository needs"),
    row("/worktree diff", "what changed in it"),
    row("/worktree sync", "bring the base's news in"),
    later(
        "/worktree merge [--squash|--rebase]",
        "merge it into the base",
        "open a pull request with `/worktree pr`, and merge it where the repository lives",
    ),
    later(
        "/worktree abort",
        "give it up: into the trash, branch saved",
        "`/worktree remove --force` moves it to the trash as it is, and can be undone",
    ),
    row("/worktree pr", "push its commits and open a pull request, or push them into the one there is"),
    row("/commands", "list the prompt templates of the codebase"),
    shown(
        "/command-set <name> <path>",
        "add a prompt template from the repository",
        "/command-set plan .claude/commands/plan.md",
    ),
    row("/load-commands <folder>", "add every prompt template of a folder"),
];

/// What `/worktree` alone is answered with.
pub(super) const WORKTREE: &str = "/worktree create|list|remove|restore|link|cleanup|orphans|keep|unkeep|diff|sync|pr";

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

/// The commands that this build has, in the order of the table.
pub fn present() -> impl Iterator<Item = &'static Help> {
    COMMANDS.iter().filter(|help| help.instead.is_none())
}

/// The answer to `/help`.
pub fn help() -> String {
    let mut lines = Vec::with_capacity(COMMANDS.len());
    for help in present() {
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
    nearest_of(typed, [])
}

/// The command or, among these names, the template that was probably meant. A command goes before a template that is
/// as near.
pub fn nearest_of<'a>(typed: &str, templates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    // The first word is right: it must not make the second one look nearer than it is.
    let typed = typed.strip_prefix("worktree ").unwrap_or(&typed);
    let typed: Vec<char> = typed.chars().take(MAX_TYPED).collect();
    let commands = present().map(Help::name).chain(["worktree"]);
    let commands = commands.map(|name| (name.rsplit(' ').next().unwrap_or(name).to_owned(), name));
    let templates = templates.into_iter().map(|name| (name.to_lowercase(), name));
    commands
        .chain(templates)
        .map(|(word, name)| (distance(&typed, &word), name))
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
