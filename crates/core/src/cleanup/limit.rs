//! What a person is told when a codebase has no room for another environment.

use super::{Policy, Usage, Verdict, Want, count, judge, stale_days};
use crate::id::Timestamp;
use crate::merged;
use crate::provider::Condition;

/// An environment that takes up room.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    pub name: &'a str,
    pub condition: &'a Condition,
    pub usage: &'a Usage,
}

/// What takes up the room. Each environment counts once: as merged, else as stale, else as active.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Breakdown {
    /// Name of each merged one, and why it is still there.
    pub merged_kept: Vec<(String, String)>,
    pub stale: usize,
    pub active: usize,
    /// After how many days an environment counts as stale.
    pub stale_after_days: u32,
}

impl Breakdown {
    pub const fn total(&self) -> usize {
        self.merged_kept.len() + self.stale + self.active
    }
}

/// Sorts the environments of a codebase by what could be done about them.
pub fn breakdown<'a>(items: impl IntoIterator<Item = Item<'a>>, policy: &Policy, now: Timestamp) -> Breakdown {
    let mut breakdown = Breakdown { stale_after_days: policy.stale_after_days, ..Breakdown::default() };
    for item in items {
        if item.usage.verdict.as_ref().is_some_and(merged::Verdict::is_merged) {
            let why = match judge(item.condition, item.usage, policy, Want::Merged, now) {
                Verdict::Keep(reason) => reason.phrase(),
                Verdict::Unreachable(_) => "unreachable".to_owned(),
                Verdict::Broken(_) => "broken".to_owned(),
                Verdict::Remove(_) | Verdict::Forget => "not removed yet".to_owned(),
            };
            breakdown.merged_kept.push((item.name.to_owned(), why));
        } else if is_stale(item, policy, now) {
            breakdown.stale += 1;
        } else {
            breakdown.active += 1;
        }
    }
    breakdown
}

fn is_stale(item: Item<'_>, policy: &Policy, now: Timestamp) -> bool {
    match item.condition {
        Condition::Present(facts) if !item.usage.running => stale_days(facts, item.usage, policy, now).is_ok(),
        _ => false,
    }
}

/// The whole message, in the same words in every chat and in the terminal.
pub fn limit_message(codebase: &str, limit: usize, breakdown: &Breakdown) -> String {
    // Others may be in the making and not yet in the breakdown.
    let total = breakdown.total().max(limit);
    let noun = if total == 1 { "worktree" } else { "worktrees" };
    let reached = if total == limit { "limit reached".to_owned() } else { format!("the limit is {limit}") };
    let mut lines = vec![
        format!("You have {total} active {noun} for **{codebase}** ({reached})."),
        String::new(),
        "Worktree status:".to_owned(),
    ];
    let merged = breakdown.merged_kept.len();
    let days = count(u64::from(breakdown.stale_after_days), "day").replacen(' ', "+ ", 1);
    if merged > 0 {
        lines.push(format!("• {merged} merged but kept: {}", reasons(&breakdown.merged_kept)));
    }
    if breakdown.stale > 0 {
        lines.push(format!("• {} stale (no activity for {days})", breakdown.stale));
    }
    if breakdown.active > 0 {
        lines.push(format!("• {} active", breakdown.active));
    }
    lines.extend([String::new(), "Options:".to_owned()]);
    if merged > 0 {
        lines.push(format!("• `/worktree cleanup merged` - remove merged worktrees ({merged})"));
    }
    if breakdown.stale > 0 {
        lines.push(format!("• `/worktree cleanup stale` - remove stale worktrees ({})", breakdown.stale));
    }
    lines.push("• `/worktree list` - see all".to_owned());
    lines.push("• `/worktree remove <name>` - remove one".to_owned());
    lines.join("\n")
}

/// Each reason once, in the order they first appear.
fn reasons(kept: &[(String, String)]) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for (_, reason) in kept {
        if !seen.contains(&reason.as_str()) {
            seen.push(reason);
        }
    }
    seen.join(", ")
}
