//! What a cleanup did, counted.

use super::{list, plural, veiled};
use crate::engine::{Swept, SweptOutcome};

pub const fn swept(outcome: SweptOutcome) -> &'static str {
    match outcome {
        SweptOutcome::Removed => "removed",
        SweptOutcome::Forgotten => "forgotten",
        SweptOutcome::TakenOver => "taken over",
        SweptOutcome::WouldRemove => "would remove",
        SweptOutcome::Purged => "purged",
        SweptOutcome::WouldPurge => "would purge",
        SweptOutcome::Expired => "expired",
        SweptOutcome::WouldExpire => "would expire",
        SweptOutcome::Kept => "kept",
        SweptOutcome::Listed => "not ours",
        SweptOutcome::Failed => "failed",
    }
}

/// `1 removed, 2 kept`, in the order of the outcomes.
pub fn sweep_summary<'a>(report: impl IntoIterator<Item = &'a Swept>) -> String {
    use SweptOutcome::{
        Expired, Failed, Forgotten, Kept, Listed, Purged, Removed, TakenOver, WouldExpire, WouldPurge, WouldRemove,
    };
    let outcomes: Vec<SweptOutcome> = report.into_iter().map(|swept| swept.outcome).collect();
    let count = |outcome| outcomes.iter().filter(|other| **other == outcome).count();
    let word = |outcome| match outcome {
        WouldRemove => "would be removed",
        WouldPurge => "would be purged",
        other => swept(other),
    };
    let order =
        [Removed, Forgotten, TakenOver, WouldRemove, Purged, WouldPurge, Expired, WouldExpire, Kept, Listed, Failed];
    let parts: Vec<String> = order
        .into_iter()
        .map(|outcome| (count(outcome), word(outcome)))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if parts.is_empty() { "Nothing to clean up".to_owned() } else { parts.join(", ") }
}

/// `/worktree cleanup`: what went first, then what stays and why. `others`: environments that were not looked at because
/// they are somebody else's.
pub(crate) fn cleaned_up(report: &[Swept], others: u64) -> String {
    let is_kept = |swept: &&Swept| matches!(swept.outcome, SweptOutcome::Kept | SweptOutcome::Listed);
    let (kept, changed): (Vec<&Swept>, Vec<&Swept>) = report.iter().partition(is_kept);
    let line = |line: &&Swept| format!("• `{}` {}: {}", line.name, swept(line.outcome), line.because);
    let lines: Vec<String> = changed.iter().chain(&kept).map(line).collect();
    let has = |outcome| report.iter().any(|swept| swept.outcome == outcome);
    let mut foot = Vec::new();
    if has(SweptOutcome::Removed) {
        foot.push("`/worktree restore <name>` brings one back.".to_owned());
    }
    if has(SweptOutcome::WouldRemove) {
        foot.push("Nothing was changed; without `--dry-run` it is done.".to_owned());
    }
    if others > 0 {
        let were = if others == 1 { "was" } else { "were" };
        foot.push(format!("{} of others {were} left alone; an admin can clean up all.", plural(others, "environment")));
    }
    veiled(&list(&sweep_summary(report), &lines, &foot.join("\n")))
}
