//! Repositories are made, forked, renamed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::json;

use crate::outside::github::git::bare;
use crate::outside::github::state::{Repository, World};

impl World {
    /// A repository by its name; one that is not there yet is made, with a first commit on `main`.
    pub(crate) fn makes_repository(&mut self, full_name: &str, from: Option<&Path>, fork_of: Option<u64>) -> u64 {
        let (owner, name) = full_name.split_once('/').expect("a name such as acme/shop");
        if let Some(found) = self.repository_named(owner, name) {
            return found.id;
        }
        let (id, time) = (self.id(), self.clock.tick());
        let path = self.folder.join(format!("{id}.git"));
        bare::make(&path);
        match from {
            Some(from) => bare::copy(&path, from),
            None => bare::first_commit(&path, "main", name),
        }
        let repository = Repository {
            id,
            owner: owner.to_owned(),
            name: name.to_owned(),
            is_private: false,
            default_branch: "main".to_owned(),
            fork_of,
            heads: bare::heads(&path),
            path,
            roles: BTreeMap::new(),
            protected: BTreeSet::new(),
            issues: BTreeMap::new(),
            checks: Vec::new(),
            is_deleted: false,
            created_at: time,
            pushed_at: time,
        };
        self.repositories.insert(id, repository);
        if fork_of.is_none() {
            self.app.installed.insert(id);
        }
        id
    }

    pub(crate) fn forks(&mut self, repository: u64, owner: &str) -> u64 {
        let (name, path) = (self.repository(repository).name.clone(), self.repository(repository).path.clone());
        self.user(owner);
        let fork = self.makes_repository(&format!("{owner}/{name}"), Some(&path), Some(repository));
        self.repository_mut(fork).fork_of = Some(repository);
        fork
    }

    pub(crate) fn renames(&mut self, repository: u64, by: u64, full_name: &str) {
        let (owner, name) = full_name.split_once('/').expect("a name such as acme/shop");
        let place = self.repository_mut(repository);
        let old = (place.full_name(), place.name.clone());
        (place.owner, place.name) = (owner.to_owned(), name.to_owned());
        self.old_names.insert(old.0.to_ascii_lowercase(), repository);
        let payload = json!({"action": "renamed", "changes": {"repository": {"name": {"from": old.1}}}});
        self.happened("repository", repository, by, payload);
    }

    pub(crate) fn protects(&mut self, repository: u64, branch: &str) {
        let place = self.repository_mut(repository);
        place.protected.insert(format!("refs/heads/{branch}"));
        let list: Vec<&str> = place.protected.iter().map(String::as_str).collect();
        std::fs::write(place.path.join("protected"), list.join("\n")).expect("a file in a repository");
    }
}
