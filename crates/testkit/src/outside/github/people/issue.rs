//! An issue, or a pull request as far as it is one, as people see it.

use serde_json::Value;

use super::repository::GitHubRepository;
use crate::outside::github::state::{Kind, Node, World};

#[derive(Debug, Clone)]
pub struct GitHubIssue {
    pub(super) repository: GitHubRepository,
    pub(super) number: u64,
    pub(super) title: String,
    pub(super) body: Option<String>,
}

/// A comment, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommentId(pub u64);

/// What somebody said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub id: CommentId,
    pub author: String,
    /// Word for word, with what is hidden.
    pub text: String,
}

impl CommentId {
    /// What it is called across all of GitHub, when it stands below an issue or a pull request.
    pub fn node_id(self) -> String {
        Node(Kind::Comment, self.0).to_string()
    }

    /// The same of a comment on a line.
    pub fn review_node_id(self) -> String {
        Node(Kind::ReviewComment, self.0).to_string()
    }
}

impl GitHubIssue {
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// What Hedgerow calls the conversation: `acme/shop#42`.
    pub fn conversation(&self) -> String {
        format!("{}#{}", self.repository.full_name(), self.number)
    }

    #[must_use]
    pub fn titled(mut self, title: &str) -> Self {
        title.clone_into(&mut self.title);
        self
    }

    /// The text below the title.
    #[must_use]
    pub fn saying(mut self, body: &str) -> Self {
        self.body = Some(body.to_owned());
        self
    }

    pub async fn opened_by(self, login: &str) -> Self {
        self.acts(login, |world, id, by| {
            world.opens_issue(id, Some(self.number), by, &self.title, self.body.as_deref());
        })
        .await;
        self
    }

    /// Does something as somebody, and waits until it is delivered.
    pub(super) async fn acts<T>(&self, login: &str, deed: impl FnOnce(&mut World, u64, u64) -> T) -> T {
        let done = self.repository.office.world(|world| {
            let by = world.user(login);
            deed(world, self.repository.id, by)
        });
        self.repository.office.settled().await;
        done
    }

    pub async fn says(&self, login: &str, text: &str) -> CommentId {
        CommentId(self.acts(login, |world, id, by| world.comments(id, self.number, by, text)).await)
    }

    /// Somebody changes a comment.
    pub async fn edits(&self, login: &str, comment: CommentId, text: &str) {
        self.acts(login, |world, id, by| world.edits_comment(id, self.number, comment.0, by, text)).await;
    }

    pub async fn deletes(&self, login: &str, comment: CommentId) {
        self.acts(login, |world, id, by| world.deletes_comment(id, self.number, comment.0, by)).await;
    }

    /// Somebody changes the text below the title.
    pub async fn edits_body(&self, login: &str, text: &str) {
        self.acts(login, |world, id, by| world.edits(id, self.number, by, None, Some(text))).await;
    }

    pub async fn retitles(&self, login: &str, title: &str) {
        self.acts(login, |world, id, by| world.edits(id, self.number, by, Some(title), None)).await;
    }

    pub async fn labels(&self, login: &str, label: &str) {
        self.acts(login, |world, id, by| world.labels(id, self.number, by, label)).await;
    }

    pub async fn closes(&self, login: &str) {
        self.acts(login, |world, id, by| world.closes(id, self.number, by, None)).await;
    }

    pub async fn reopens(&self, login: &str) {
        self.acts(login, |world, id, by| world.reopens(id, self.number, by)).await;
    }

    pub async fn locked_by(&self, login: &str) {
        self.acts(login, |world, id, by| world.locks(id, self.number, by)).await;
    }

    pub async fn deleted_by(&self, login: &str) {
        self.acts(login, |world, id, by| world.deletes_issue(id, self.number, by)).await;
    }

    /// It moves to another repository; what it is there.
    pub async fn transferred_to(&self, login: &str, to: &GitHubRepository) -> Self {
        let number = self.acts(login, |world, id, by| world.transfers(id, self.number, to.id, by)).await;
        to.issue(number)
    }

    pub fn is_open(&self) -> bool {
        self.looks(|world, id| world.issue(id, self.number).is_open)
    }

    /// As the API shows it.
    pub fn json(&self) -> Value {
        self.looks(|world, id| world.show_issue(id, self.number))
    }

    pub fn node_id(&self) -> String {
        self.json()["node_id"].as_str().unwrap_or_default().to_owned()
    }

    pub fn comments(&self) -> Vec<Said> {
        self.looks(|world, id| {
            let said = world.issue(id, self.number).comments.iter().map(|comment| Said {
                id: CommentId(comment.id),
                author: world.login(comment.author).to_owned(),
                text: comment.body.clone(),
            });
            said.collect()
        })
    }

    /// What was said, as people read it: `author: text`, without what is hidden.
    pub fn transcript(&self) -> String {
        let lines = self.comments().into_iter().map(|said| format!("{}: {}", said.author, visible(&said.text)));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Reactions to a comment, oldest first, as REST names them: `eyes`, `+1`.
    pub fn reactions_of(&self, comment: CommentId) -> Vec<String> {
        self.reactions(Node(Kind::Comment, comment.0))
    }

    /// The same of the issue itself.
    pub fn own_reactions(&self) -> Vec<String> {
        Node::read(&self.node_id()).map(|node| self.reactions(node)).unwrap_or_default()
    }

    pub(super) fn reactions(&self, node: Node) -> Vec<String> {
        self.looks(|world, _| {
            let reactions = world.reactions(node).expect("something to react to");
            reactions.iter().map(|reaction| reaction.content.clone()).collect()
        })
    }

    pub(super) fn looks<T>(&self, look: impl FnOnce(&mut World, u64) -> T) -> T {
        self.repository.office.world(|world| look(world, self.repository.id))
    }
}

/// A text without its hidden comments.
fn visible(text: &str) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(start) = rest.find("<!--") {
        shown.push_str(&rest[..start]);
        rest = rest[start..].find("-->").map_or("", |end| &rest[start + end + 3..]);
    }
    shown.push_str(rest);
    shown.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn what_is_hidden_is_not_read() {
        assert_eq!(visible("<!-- hedgerow:reply:1 -->\nDone. <!-- x --> Yes."), "Done.  Yes.");
        assert_eq!(visible("open <!-- never closed"), "open");
    }
}
