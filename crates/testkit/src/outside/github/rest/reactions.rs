//! Reactions to issues, pull requests, comments and comments on lines.

use super::At;
use crate::outside::github::call::{Answer, Answered, Refusal, not_found, nothing, wrong_field};
use crate::outside::github::state::{Kind, Node, World};

pub(super) fn answer(world: &mut World, at: &At<'_>, rest: &[&str]) -> Answered {
    let (node, id) = match rest {
        ["issues", "comments", comment, "reactions", id @ ..] => (numbered(Kind::Comment, comment)?, id),
        ["pulls", "comments", comment, "reactions", id @ ..] => (numbered(Kind::ReviewComment, comment)?, id),
        ["issues", number, "reactions", id @ ..] => {
            let issue = at.issue(world, number)?;
            let of_pull = issue.pull.as_ref().map(|pull| Node(Kind::PullRequest, pull.id));
            (of_pull.unwrap_or(Node(Kind::Issue, issue.id)), id)
        }
        _ => return Err(Refusal::Unknown),
    };
    match (at.call.method.as_str(), id) {
        ("GET", []) => {
            let reactions = world.reactions(node).ok_or_else(not_found)?.clone();
            at.call.page(reactions.iter().map(|reaction| world.show_reaction(reaction)).collect())
        }
        ("POST", []) => {
            let by = at.writer(world)?;
            let content = at.call.text("Reaction", "content")?;
            if !crate::outside::github::show::REACTIONS.contains(&content) {
                return Err(wrong_field("Reaction", "content", "invalid"));
            }
            let (reaction, is_new) = world.reacts(node, by, content).ok_or_else(not_found)?;
            Ok(Answer::new(if is_new { 201 } else { 200 }, world.show_reaction(&reaction)))
        }
        ("DELETE", [id]) => {
            at.writer(world)?;
            world.unreacts(node, |reaction| reaction.id.to_string() == **id).ok_or_else(not_found)?;
            nothing()
        }
        _ => Err(Refusal::Unknown),
    }
}

fn numbered(kind: Kind, id: &str) -> Result<Node, Refusal> {
    id.parse().map(|id| Node(kind, id)).map_err(|_| not_found())
}
