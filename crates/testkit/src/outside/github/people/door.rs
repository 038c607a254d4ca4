//! Who is there, and with what they come in.

use std::path::Path;
use std::sync::Arc;

use super::repository::GitHubRepository;
use crate::outside::github::GitHub;
use crate::outside::github::state::Token;
use crate::repo::TestRepo;

impl GitHub {
    /// A repository such as `acme/shop`; one that is not there yet is made, with a first commit on `main`. The App is
    /// installed in it.
    pub fn repository(&self, full_name: &str) -> GitHubRepository {
        let id = self.office.world(|world| world.makes_repository(full_name, None, None));
        GitHubRepository { office: Arc::clone(&self.office), id }
    }

    /// One with the branches and tags of a repository on disk.
    pub fn repository_from(&self, full_name: &str, repo: &TestRepo) -> GitHubRepository {
        self.repository_at(full_name, &repo.git_dir())
    }

    /// The same of any folder of git.
    pub fn repository_at(&self, full_name: &str, path: &Path) -> GitHubRepository {
        let id = self.office.world(|world| world.makes_repository(full_name, Some(path), None));
        GitHubRepository { office: Arc::clone(&self.office), id }
    }

    /// The number behind a login. Whoever is not there yet comes.
    pub fn user_id(&self, login: &str) -> u64 {
        self.office.world(|world| world.user(login))
    }

    /// Makes an account that says it is a bot.
    pub fn bot(&self, login: &str) -> u64 {
        self.office.world(|world| {
            let id = world.user(login);
            world.users.get_mut(&id).expect("it is there").is_bot = true;
            id
        })
    }

    /// Somebody gives up their login, and somebody else takes it: another number behind the same name.
    pub fn login_passes_on(&self, login: &str) -> u64 {
        self.office.world(|world| {
            let old = world.user(login);
            world.users.get_mut(&old).expect("it is there").login = format!("{login}-before");
            world.makes_user(login, false)
        })
    }

    /// A token with which somebody may do all they may.
    pub fn token_of(&self, login: &str) -> String {
        self.office.world(|world| {
            let (who, id) = (world.user(login), world.id());
            let token = format!("ghp_fake{id:024}");
            world.tokens.insert(token.clone(), Token { who, only: None, expires_at: None });
            token
        })
    }

    /// Every token that was ever given out.
    pub fn tokens(&self) -> Vec<String> {
        self.office.world(|world| world.tokens.keys().cloned().collect())
    }

    /// No token that was given out so far opens anything any more.
    pub fn tokens_expire(&self) {
        self.office.world(|world| {
            let now = world.clock.now();
            for token in world.tokens.values_mut() {
                token.expires_at = Some(now);
            }
        });
    }

    /// The id of the App. Its key is [`crate::outside::github::APP_KEY`].
    pub fn app_id(&self) -> String {
        self.office.world(|world| world.app.id.to_string())
    }

    /// What the App is called. Its deeds are those of the slug with `[bot]` behind.
    pub fn app_slug(&self) -> String {
        self.office.world(|world| world.app.slug.clone())
    }

    /// Somebody pressed the button of a manifest in their browser: the code that comes back.
    pub fn manifest_accepted(&self, name: &str) -> String {
        self.office.world(|world| {
            let code = format!("code{}", world.id());
            world.manifests.insert(code.clone(), name.to_owned());
            code
        })
    }
}
