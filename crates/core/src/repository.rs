//! A repository as its forge names it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use crate::environment::UnknownWord;

/// `acme/shop`. A forge does not tell upper from lower case in it.
#[derive(Debug, Clone)]
pub struct RepositoryName {
    owner: String,
    name: String,
}

impl RepositoryName {
    /// `None` when one of the two could be taken for something else in a path or a URL.
    pub fn new(owner: &str, name: &str) -> Option<Self> {
        let is_plain = |text: &str| {
            (1..=100).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
                && !matches!(text, "." | "..")
        };
        let is_good = is_plain(owner) && is_plain(name) && !owner.starts_with('-') && !name.starts_with('-');
        is_good.then(|| Self { owner: owner.to_owned(), name: name.to_owned() })
    }

    pub fn owner(&self) -> &str {
        &self.owner
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

impl PartialEq for RepositoryName {
    fn eq(&self, other: &Self) -> bool {
        self.owner.eq_ignore_ascii_case(&other.owner) && self.name.eq_ignore_ascii_case(&other.name)
    }
}

impl Eq for RepositoryName {}

impl Hash for RepositoryName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_string().to_ascii_lowercase().hash(state);
    }
}

impl fmt::Display for RepositoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

impl FromStr for RepositoryName {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('/').and_then(|(owner, name)| Self::new(owner, name));
        parts.ok_or_else(|| UnknownWord { what: "repository", value: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_the_same_in_any_case() {
        let one: RepositoryName = "Acme/Shop".parse().expect("a name");
        assert_eq!(one, "acme/shop".parse().expect("a name"));
        assert_eq!(one.to_string(), "Acme/Shop");
        for bad in ["", "acme", "acme/", "/shop", "acme/shop/x", "acme/..", "a b/c", "-x/y", "acme/sh%2fop", "a/b?c"] {
            assert!(bad.parse::<RepositoryName>().is_err(), "{bad}");
        }
    }
}
