//! Commits.

use serde_json::{Value, json};

use crate::outside::github::git::bare;
use crate::outside::github::state::World;

impl World {
    pub(crate) fn show_commit(&self, id: u64, sha: &str) -> Value {
        let repository = self.repository(id);
        let facts = bare::facts(&repository.path, sha);
        let api = self.api_of(repository);
        let parents = facts["parents"].as_array().into_iter().flatten();
        let parents: Vec<Value> =
            parents.map(|parent| json!({"sha": parent, "url": format!("{api}/commits/{parent}")})).collect();
        json!({
            "sha": sha, "node_id": format!("C_kwDO{}", &sha[..12]), "url": format!("{api}/commits/{sha}"),
            "html_url": format!("{}/{}/commit/{sha}", self.url, repository.full_name()),
            "commit": {
                "author": facts["author"], "committer": facts["committer"], "message": facts["message"],
                "tree": {"sha": facts["tree"]}, "comment_count": 0,
            },
            "author": null, "committer": null, "parents": parents,
        })
    }
}
