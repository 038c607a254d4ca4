//! Repositories.

use serde_json::{Value, json};

use crate::outside::github::state::{Kind, Node, Repository, World, written};

impl World {
    /// Where the API has it.
    pub(crate) fn api_of(&self, repository: &Repository) -> String {
        format!("{}/api/v3/repos/{}", self.url, repository.full_name())
    }

    pub(crate) fn show_repository(&self, id: u64) -> Value {
        let repository = self.repository(id);
        let (name, api) = (repository.full_name(), self.api_of(repository));
        let page = format!("{}/{name}", self.url);
        let open = repository.issues.values().filter(|issue| issue.is_open && issue.gone.is_none()).count();
        json!({
            "id": repository.id, "node_id": Node(Kind::Repository, id).json(), "name": repository.name,
            "full_name": name, "private": repository.is_private, "owner": self.show_owner(repository),
            "html_url": page, "description": null, "fork": repository.fork_of.is_some(), "url": api,
            "issues_url": format!("{api}/issues{{/number}}"), "pulls_url": format!("{api}/pulls{{/number}}"),
            "created_at": written(repository.created_at), "updated_at": written(repository.pushed_at),
            "pushed_at": written(repository.pushed_at), "git_url": format!("git://127.0.0.1/{name}.git"),
            "ssh_url": format!("git@127.0.0.1:{name}.git"), "clone_url": format!("{page}.git"), "svn_url": page,
            "size": 1, "stargazers_count": 0, "watchers_count": 0, "language": null, "has_issues": true,
            "forks_count": 0, "archived": false, "disabled": false, "open_issues_count": open,
            "allow_forking": true, "is_template": false, "topics": [],
            "visibility": if repository.is_private { "private" } else { "public" },
            "default_branch": repository.default_branch,
        })
    }

    fn show_owner(&self, repository: &Repository) -> Value {
        match self.known_user(&repository.owner) {
            Some(user) => self.show_user(user.id),
            None => json!({"login": repository.owner, "id": 1, "node_id": "O_kgDO00000001", "type": "Organization"}),
        }
    }
}
