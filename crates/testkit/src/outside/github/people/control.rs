//! People's deeds by HTTP, for who plays with the fake by hand: `POST /control/says {"repository", "by", …}`.

use serde_json::{Value, json};

use super::repository::commit;
use crate::outside::github::call::{Answered, Call, Refusal, fine, refused};
use crate::outside::github::deeds::Draft;
use crate::outside::github::git::Way;
use crate::outside::github::state::{Role, Token, World};

pub(crate) fn control(world: &mut World, call: &Call) -> Answered {
    let body = &call.body;
    let text = |name: &str| body[name].as_str().unwrap_or_default();
    let name = if text("repository").contains('/') { text("repository") } else { "acme/shop" };
    let repository = world.makes_repository(name, None, None);
    let by = world.user(if text("by").is_empty() { "alice" } else { text("by") });
    let number = body["number"].as_u64();
    let known = number.filter(|number| world.repository(repository).issues.contains_key(number));
    let this = known.ok_or_else(|| refused(404, "no issue or pull request of that `number`"));
    let answer: Value = match call.path.trim_start_matches("/control/") {
        "opens" => {
            let number = world.opens_issue(repository, number, by, text("title"), body["body"].as_str());
            world.show_issue(repository, number)
        }
        "says" => json!({"id": world.comments(repository, this?, by, text("text"))}),
        "closes" => {
            let this = this?;
            world.closes(repository, this, by, None);
            world.show_issue(repository, this)
        }
        "reopens" => {
            let this = this?;
            world.reopens(repository, this, by);
            world.show_issue(repository, this)
        }
        "commits" => {
            let login = world.login(by).to_owned();
            let sha = commit(world, repository, text("branch"), text("file"), text("content"), &login);
            world.branches_moved(repository, by);
            json!({"sha": sha})
        }
        "proposes" => {
            let draft = Draft {
                number,
                title: text("title").to_owned(),
                body: body["body"].as_str().map(str::to_owned),
                head_repository: repository,
                head_branch: text("branch").to_owned(),
                base_branch: world.repository(repository).default_branch.clone(),
                is_early: false,
                linked: Vec::new(),
            };
            let number = world.opens_pull(repository, by, &draft).map_err(|(_, why)| refused(422, &why))?;
            world.show_whole_pull(repository, number)
        }
        "merges" => {
            let way = match text("way") {
                "merge" => Way::Merge,
                "rebase" => Way::Rebase,
                _ => Way::Squash,
            };
            json!({"sha": world.merges(repository, this?, by, way).map_err(|why| refused(405, why))?})
        }
        "gives" => {
            let role = match text("role") {
                "read" => Role::Read,
                "admin" => Role::Admin,
                _ => Role::Write,
            };
            world.repository_mut(repository).roles.insert(by, role);
            let token = format!("ghp_fake{:024}", world.id());
            world.tokens.insert(token.clone(), Token { who: by, only: None, expires_at: None });
            json!({"token": token})
        }
        "delivers" => {
            world.post.target = Some((text("url").to_owned(), text("secret").to_owned()));
            json!({})
        }
        _ => return Err(Refusal::Unknown),
    };
    fine(answer)
}
