//! People, what they are to a repository, and how they feel about things.

use serde_json::{Map, Value, json};

use crate::outside::github::state::{Kind, Node, Reaction, Repository, Role, World, written};

/// As REST names them.
pub(crate) const REACTIONS: [&str; 8] = ["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"];

impl World {
    pub(crate) fn show_user(&self, user: u64) -> Value {
        let Some(user) = self.users.get(&user) else { return Value::Null };
        let kind = if user.is_bot { Kind::Bot } else { Kind::User };
        let page = user.login.replace("[bot]", "");
        json!({
            "login": user.login, "id": user.id, "node_id": Node(kind, user.id).json(),
            "avatar_url": format!("{}/avatars/u/{}", self.url, user.id), "gravatar_id": "",
            "url": format!("{}/api/v3/users/{}", self.url, user.login),
            "html_url": if user.is_bot { format!("{}/apps/{page}", self.url) } else { format!("{}/{page}", self.url) },
            "type": if user.is_bot { "Bot" } else { "User" }, "user_view_type": "public", "site_admin": false,
        })
    }

    /// What somebody is to a repository, beside what they say in it.
    pub(crate) fn association(&self, repository: &Repository, user: u64) -> &'static str {
        if self.login(user).eq_ignore_ascii_case(&repository.owner) {
            return "OWNER";
        }
        match repository.roles.get(&user) {
            Some(role) if *role >= Role::Read => "COLLABORATOR",
            _ => {
                let merged = |issue: &&crate::outside::github::state::Issue| issue.author == user && issue.is_merged();
                if repository.issues.values().any(|issue| merged(&issue)) { "CONTRIBUTOR" } else { "NONE" }
            }
        }
    }

    /// How many of each, as it stands beside everything that can be reacted to.
    pub(crate) fn show_reactions(reactions: &[Reaction], url: &str) -> Value {
        let mut shown = Map::new();
        shown.insert("url".to_owned(), json!(format!("{url}/reactions")));
        shown.insert("total_count".to_owned(), json!(reactions.len()));
        for content in REACTIONS {
            let count = reactions.iter().filter(|reaction| reaction.content == content).count();
            shown.insert(content.to_owned(), json!(count));
        }
        Value::Object(shown)
    }

    pub(crate) fn show_reaction(&self, reaction: &Reaction) -> Value {
        json!({
            "id": reaction.id, "node_id": Node(Kind::Reaction, reaction.id).json(),
            "user": self.show_user(reaction.who), "content": reaction.content,
            "created_at": written(reaction.created_at),
        })
    }
}
