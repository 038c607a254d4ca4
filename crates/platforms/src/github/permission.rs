//! Who may ask. Asked of GitHub each time: a right that was taken away is gone at once.

use hedgerow_core::RepositoryName;
use hedgerow_core::message::Author;
use hedgerow_core::platform::{Forge, Permission, PlatformError};

use super::GitHub;
use super::config::{Allow, Config};
use super::heard::Person;

/// What is known about who asks before GitHub is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    May,
    MayNot,
    /// Who may write to the repository.
    IfWriter,
}

fn known(allow: &Allow, person: &Person) -> Known {
    match allow {
        Allow::Only(ids) if !ids.contains(&person.id) => Known::MayNot,
        Allow::Only(_) if person.is_bot => Known::May,
        Allow::Writers | Allow::Everyone if person.is_bot => Known::MayNot,
        Allow::Writers | Allow::Only(_) => Known::IfWriter,
        Allow::Everyone => Known::May,
    }
}

impl GitHub {
    /// Whether a person may ask for things on a repository.
    pub(super) async fn may_ask(&self, repository: &RepositoryName, person: &Person) -> Result<bool, PlatformError> {
        match known(&self.config.allow, person) {
            Known::May => Ok(true),
            Known::MayNot => Ok(false),
            Known::IfWriter => Ok(self.permission(repository, &author(person)).await? >= Permission::Write),
        }
    }
}

/// The id is what stays; a login can pass to somebody else.
pub(super) fn author(person: &Person) -> Author {
    Author { id: person.id.to_string(), name: person.login.clone() }
}

/// Whether nobody is answered: programs that are not listed, and ourselves. Two programs that answer each other would
/// never end.
pub(super) fn is_ignored(config: &Config, person: &Person) -> bool {
    let name = person.login.strip_suffix("[bot]").unwrap_or(&person.login);
    let is_listed = matches!(&config.allow, Allow::Only(ids) if ids.contains(&person.id));
    name.eq_ignore_ascii_case(&config.bot_name) || (person.is_bot && !is_listed)
}

/// Said to who may not ask.
pub(super) fn refusal(allow: &Allow, repository: &RepositoryName) -> String {
    let listed = if matches!(allow, Allow::Only(_)) { " who are also on my list" } else { "" };
    format!(
        "Thank you for asking, but I work only for people with write access to `{repository}`{listed}; one of them can \
         ask me here."
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::github::client::tests;

    fn config(allow: Allow) -> Config {
        Config { allow, ..tests::config("http://127.0.0.1:1", tests::person()) }
    }

    fn person(id: u64, login: &str, is_bot: bool) -> Person {
        Person { id, login: login.into(), is_bot }
    }

    #[test]
    fn who_may_ask_follows_the_rules() {
        let only = Allow::Only(BTreeSet::from([7, 9]));
        let (listed, other) = (person(7, "alice", false), person(8, "bob", false));
        let (listed_bot, other_bot) = (person(9, "helper[bot]", true), person(10, "spam[bot]", true));
        for (allow, who, expected) in [
            (&Allow::Writers, &listed, Known::IfWriter),
            (&Allow::Writers, &other_bot, Known::MayNot),
            (&only, &listed, Known::IfWriter),
            (&only, &other, Known::MayNot),
            (&only, &listed_bot, Known::May),
            (&only, &other_bot, Known::MayNot),
            (&Allow::Everyone, &other, Known::May),
            (&Allow::Everyone, &other_bot, Known::MayNot),
        ] {
            assert_eq!(known(allow, who), expected, "{allow:?} {who:?}");
        }
    }

    #[test]
    fn programs_and_ourselves_are_not_answered() {
        let (writers, only) = (config(Allow::Writers), config(Allow::Only(BTreeSet::from([9]))));
        for (config, who, expected) in [
            (&writers, person(7, "alice", false), false),
            (&writers, person(9, "helper[bot]", true), true),
            (&only, person(9, "helper[bot]", true), false),
            (&only, person(9, "Hedgerow[bot]", true), true),
            (&writers, person(7, "Hedgerow", false), true),
            (&writers, person(7, "hedgerows", false), false),
        ] {
            assert_eq!(is_ignored(config, &who), expected, "{who:?}");
        }
    }

    #[test]
    fn a_refusal_says_what_is_needed_and_calls_nobody() {
        let repository = "acme/shop".parse().expect("a name");
        for allow in [Allow::Writers, Allow::Only(BTreeSet::new())] {
            let words = refusal(&allow, &repository);
            assert!(words.contains("write access to `acme/shop`") && !words.contains('@'), "{words}");
            assert_eq!(words.contains("my list"), allow != Allow::Writers, "{words}");
        }
    }
}
