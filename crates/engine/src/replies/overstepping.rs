//! What is said about a run that changed what is not its own.

use crate::tripwire::{Done, Found, What};

/// So many findings are told one by one.
const MOST: usize = 20;

/// One sentence or two for each finding.
pub fn overstepped(found: &Found) -> String {
    let done = match &found.done {
        Done::PutBack { kept: Some(kept) } => format!("It was put back; what it had become is kept as `{kept}`."),
        Done::PutBack { kept: None } => "It was put back.".to_owned(),
        Done::Left => "It cannot be told who did it, so it was left as it is.".to_owned(),
        Done::Failed(why) => format!("It could not be put back: {}.", super::veiled(why).trim_end_matches('.')),
    };
    let is_left = found.done == Done::Left;
    let what = match &found.what {
        What::Moved(name) => changed(is_left, "moved", &of(name)),
        What::Gone(name) => changed(is_left, "deleted", &of(name)),
        What::Made(name) => changed(is_left, "made", &of(name)),
        What::Settings(keys) => {
            let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            changed(is_left, "changed", &format!("the repository's git settings ({})", keys.join(", ")))
        }
        What::File(name) => changed(is_left, "changed", &format!("`{name}` in the repository's git folder")),
        What::Link(name) => {
            changed(is_left, "changed", &format!("`{name}`, which ties the environment to its repository"))
        }
        What::Head => changed(is_left, "moved", "`HEAD` of the main checkout"),
        What::Operation(name) => changed(is_left, "began", &format!("an operation in the main checkout (`{name}`)")),
        What::Stash(message) => changed(is_left, "dropped", &format!("somebody else's stash (`{message}`)")),
    };
    format!("{what} {done}")
}

/// All of them, as far as anybody reads on; the log of events has the rest.
pub fn all_overstepped(found: &[Found]) -> Vec<String> {
    let more = found.len().saturating_sub(MOST);
    let more = (more > 0).then(|| format!("And {more} more like these; the log of events names each."));
    found.iter().take(MOST).map(overstepped).chain(more).collect()
}

fn changed(is_left: bool, verb: &str, what: &str) -> String {
    if is_left {
        return format!("While the run was at work, somebody {verb} {what}.");
    }
    format!("The run {verb} {what}, which is not its own.")
}

/// `branch x`, `tag y`, or the ref in full.
fn of(name: &str) -> String {
    let kinds = [("refs/heads/", "branch"), ("refs/tags/", "tag")];
    let known = kinds.iter().find_map(|(prefix, kind)| Some(format!("{kind} `{}`", name.strip_prefix(prefix)?)));
    known.unwrap_or_else(|| format!("`{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_says_what_happened_and_what_became_of_it() {
        let say = |what: What, done: Done| overstepped(&Found { what, done, objects: (None, None) });
        let kept = Done::PutBack { kept: Some("refs/hedgerow/undone/1/0".into()) };
        assert_eq!(
            say(What::Moved("refs/heads/main".into()), kept),
            "The run moved branch `main`, which is not its own. It was put back; what it had become is kept as \
             `refs/hedgerow/undone/1/0`."
        );
        assert_eq!(
            say(What::Settings(vec!["core.fsmonitor".into()]), Done::Left),
            "While the run was at work, somebody changed the repository's git settings (`core.fsmonitor`). It cannot be \
             told who did it, so it was left as it is."
        );
        assert_eq!(
            say(What::Gone("refs/tags/v1".into()), Done::Failed("it is locked".into())),
            "The run deleted tag `v1`, which is not its own. It could not be put back: it is locked."
        );
    }
}
