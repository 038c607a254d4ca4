//! All of it in one place, found by name or number.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::clock::Clock;
use super::issue::{Issue, Reaction};
use super::node::{Kind, Node};
use super::people::{App, Role, Token, User};
use super::repository::Repository;
use crate::outside::github::delivery::Post;
use crate::outside::github::log::Log;
use crate::outside::github::trouble::Troubles;

#[derive(Debug)]
pub(crate) struct World {
    /// Where its pages are, without a slash at the end.
    pub(crate) url: String,
    pub(crate) folder: PathBuf,
    pub(crate) clock: Clock,
    pub(crate) users: BTreeMap<u64, User>,
    pub(crate) repositories: BTreeMap<u64, Repository>,
    /// Names that repositories had before.
    pub(crate) old_names: BTreeMap<String, u64>,
    pub(crate) tokens: BTreeMap<String, Token>,
    pub(crate) app: App,
    /// Codes of manifests that wait to be turned into Apps.
    pub(crate) manifests: BTreeMap<String, String>,
    pub(crate) post: Post,
    pub(crate) log: Log,
    pub(crate) troubles: Troubles,
    next_id: u64,
}

impl World {
    pub(crate) fn new(url: String, folder: PathBuf, post: Post) -> Self {
        let clock = Clock::default();
        let app = App { id: 0, slug: "hedgerow".to_owned(), bot: 0, installed: [].into(), created_at: clock.now() };
        let mut world = Self {
            url,
            folder,
            clock,
            users: BTreeMap::new(),
            repositories: BTreeMap::new(),
            old_names: BTreeMap::new(),
            tokens: BTreeMap::new(),
            app,
            manifests: BTreeMap::new(),
            post,
            log: Log::default(),
            troubles: Troubles::default(),
            next_id: 1_000_000,
        };
        world.app.id = world.id();
        world.app.bot = world.makes_user("hedgerow[bot]", true);
        world
    }

    /// A number that nothing else has.
    pub(crate) fn id(&mut self) -> u64 {
        self.next_id += 7;
        self.next_id
    }

    pub(crate) fn makes_user(&mut self, login: &str, is_bot: bool) -> u64 {
        let id = self.id();
        self.users.insert(id, User { id, login: login.to_owned(), is_bot });
        id
    }

    /// Somebody by their login; whoever is not there yet comes.
    pub(crate) fn user(&mut self, login: &str) -> u64 {
        match self.known_user(login) {
            Some(user) => user.id,
            None => self.makes_user(login, login.ends_with("[bot]")),
        }
    }

    pub(crate) fn known_user(&self, login: &str) -> Option<&User> {
        self.users.values().find(|user| user.login.eq_ignore_ascii_case(login))
    }

    pub(crate) fn login(&self, user: u64) -> &str {
        self.users.get(&user).map_or("ghost", |user| user.login.as_str())
    }

    pub(crate) fn repository_named(&self, owner: &str, name: &str) -> Option<&Repository> {
        self.repositories.values().find(|repository| repository.is_called(owner, name))
    }

    pub(crate) fn repository(&self, id: u64) -> &Repository {
        &self.repositories[&id]
    }

    pub(crate) fn repository_mut(&mut self, id: u64) -> &mut Repository {
        self.repositories.get_mut(&id).expect("repositories are never forgotten")
    }

    pub(crate) fn issue(&self, repository: u64, number: u64) -> &Issue {
        &self.repository(repository).issues[&number]
    }

    pub(crate) fn issue_mut(&mut self, repository: u64, number: u64) -> &mut Issue {
        self.repository_mut(repository).issues.get_mut(&number).expect("it was found before")
    }

    /// What a user may do there. Everybody reads what is public.
    pub(crate) fn role(&self, repository: &Repository, user: u64) -> Role {
        let given = repository.roles.get(&user).copied().unwrap_or(Role::None);
        let owns = self.login(user).eq_ignore_ascii_case(&repository.owner);
        if owns {
            Role::Admin
        } else if repository.is_private {
            given
        } else {
            given.max(Role::Read)
        }
    }

    /// The installation of the App for an owner.
    pub(crate) fn installation(owner: &str) -> u64 {
        let owner = owner.to_ascii_lowercase();
        // The same owner has the same, without a table of them.
        50_000_000 + owner.bytes().fold(7_u64, |sum, byte| (sum * 31 + u64::from(byte)) % 9_999_991)
    }

    /// Everybody's reactions to a thing. `None` when there is no such thing.
    pub(crate) fn reactions(&mut self, node: Node) -> Option<&mut Vec<Reaction>> {
        let Node(kind, id) = node;
        let issues = self.repositories.values_mut().flat_map(|repository| repository.issues.values_mut());
        for issue in issues {
            match kind {
                Kind::Issue if issue.id == id && issue.pull.is_none() => return Some(&mut issue.reactions),
                Kind::PullRequest if issue.pull.as_ref().is_some_and(|pull| pull.id == id) => {
                    return Some(&mut issue.reactions);
                }
                Kind::Comment => {
                    if let Some(found) = issue.comments.iter_mut().find(|comment| comment.id == id) {
                        return Some(&mut found.reactions);
                    }
                }
                Kind::Review | Kind::ReviewComment => {
                    let Some(pull) = &mut issue.pull else { continue };
                    if kind == Kind::Review {
                        if let Some(found) = pull.reviews.iter_mut().find(|review| review.id == id) {
                            return Some(&mut found.reactions);
                        }
                    } else if let Some(found) = pull.review_comments.iter_mut().find(|comment| comment.id == id) {
                        return Some(&mut found.reactions);
                    }
                }
                _ => {}
            }
        }
        None
    }
}
