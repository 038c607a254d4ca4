//! Issues are opened and talked about.

use serde_json::{Value, json};

use crate::outside::github::state::{Comment, Gone, Issue, World};

impl World {
    pub(crate) fn blank_issue(&mut self, number: u64, author: u64, title: &str, body: Option<&str>) -> Issue {
        let (id, time) = (self.id(), self.clock.tick());
        Issue {
            id,
            number,
            title: title.to_owned(),
            body: body.map(str::to_owned),
            author,
            is_open: true,
            state_reason: None,
            is_locked: false,
            labels: Vec::new(),
            created_at: time,
            updated_at: time,
            closed_at: None,
            closed_by: None,
            comments: Vec::new(),
            edited: None,
            renames: Vec::new(),
            reactions: Vec::new(),
            pull: None,
            gone: None,
            transferred_at: None,
        }
    }

    pub(crate) fn opens_issue(
        &mut self,
        repository: u64,
        number: Option<u64>,
        by: u64,
        title: &str,
        body: Option<&str>,
    ) -> u64 {
        let number = number.unwrap_or_else(|| self.repository(repository).next_number());
        let issue = self.blank_issue(number, by, title, body);
        self.repository_mut(repository).issues.insert(number, issue);
        self.tells_issue(repository, number, by, "opened", json!({}));
        number
    }

    /// Tells what happened to an issue, as an event of issues or of pull requests.
    pub(crate) fn tells_issue(&mut self, repository: u64, number: u64, by: u64, action: &str, extra: Value) {
        if self.issue(repository, number).pull.is_some() {
            return self.tells_pull(repository, number, by, action, extra);
        }
        let mut payload = json!({"action": action, "issue": self.show_issue(repository, number)});
        add(&mut payload, extra);
        self.happened("issues", repository, by, payload);
    }

    pub(crate) fn comments(&mut self, repository: u64, number: u64, by: u64, body: &str) -> u64 {
        let (id, time) = (self.id(), self.clock.tick());
        let comment = Comment {
            id,
            author: by,
            body: body.to_owned(),
            created_at: time,
            updated_at: time,
            edited: None,
            reactions: Vec::new(),
        };
        let issue = self.issue_mut(repository, number);
        issue.comments.push(comment);
        issue.updated_at = time;
        self.tells_comment(repository, number, id, by, "created", json!({}));
        id
    }

    pub(crate) fn edits_comment(&mut self, repository: u64, number: u64, id: u64, by: u64, body: &str) {
        let time = self.clock.tick();
        let issue = self.issue_mut(repository, number);
        let comment = issue.comments.iter_mut().find(|comment| comment.id == id).expect("it was found before");
        comment.updated_at = time;
        comment.edited = Some((time, by));
        let before = std::mem::replace(&mut comment.body, body.to_owned());
        let changes = json!({"changes": {"body": {"from": before}}});
        self.tells_comment(repository, number, id, by, "edited", changes);
    }

    pub(crate) fn deletes_comment(&mut self, repository: u64, number: u64, id: u64, by: u64) {
        // Told as it was.
        self.tells_comment(repository, number, id, by, "deleted", json!({}));
        self.issue_mut(repository, number).comments.retain(|comment| comment.id != id);
    }

    fn tells_comment(&mut self, repository: u64, number: u64, id: u64, by: u64, action: &str, extra: Value) {
        let comment = self.issue(repository, number).comment(id).expect("it is there").clone();
        let mut payload = json!({
            "action": action, "issue": self.show_issue(repository, number),
            "comment": self.show_comment(repository, number, &comment),
        });
        add(&mut payload, extra);
        self.happened("issue_comment", repository, by, payload);
    }

    /// The title, the text, or both.
    pub(crate) fn edits(&mut self, repository: u64, number: u64, by: u64, title: Option<&str>, body: Option<&str>) {
        let time = self.clock.tick();
        let issue = self.issue_mut(repository, number);
        let mut changes = json!({});
        if let Some(title) = title.filter(|title| *title != issue.title) {
            let before = std::mem::replace(&mut issue.title, title.to_owned());
            changes["title"] = json!({"from": before});
            issue.renames.push((time, before));
        }
        if let Some(body) = body.filter(|body| Some(*body) != issue.body.as_deref()) {
            changes["body"] = json!({"from": issue.body.replace(body.to_owned())});
            issue.edited = Some((time, by));
        }
        if changes == json!({}) {
            return;
        }
        issue.updated_at = time;
        self.tells_issue(repository, number, by, "edited", json!({"changes": changes}));
    }

    pub(crate) fn labels(&mut self, repository: u64, number: u64, by: u64, name: &str) {
        let (id, time) = (self.id(), self.clock.tick());
        let issue = self.issue_mut(repository, number);
        issue.labels.push((id, name.to_owned()));
        issue.updated_at = time;
        self.tells_issue(repository, number, by, "labeled", json!({"label": {"id": id, "name": name}}));
    }

    pub(crate) fn locks(&mut self, repository: u64, number: u64, by: u64) {
        self.issue_mut(repository, number).is_locked = true;
        self.tells_issue(repository, number, by, "locked", json!({}));
    }

    pub(crate) fn deletes_issue(&mut self, repository: u64, number: u64, by: u64) {
        self.tells_issue(repository, number, by, "deleted", json!({}));
        self.issue_mut(repository, number).gone = Some(Gone::Deleted);
    }

    /// Moves an issue with all that was said to another repository. Its new number.
    pub(crate) fn transfers(&mut self, repository: u64, number: u64, to: u64, by: u64) -> u64 {
        let time = self.clock.tick();
        let old = self.issue(repository, number).clone();
        let new_number = self.repository(to).next_number();
        let moved = Issue { id: self.id(), number: new_number, transferred_at: Some(time), ..old };
        self.repository_mut(to).issues.insert(new_number, moved);
        let changes = json!({"new_issue": self.show_issue(to, new_number), "new_repository": self.show_repository(to)});
        self.tells_issue(repository, number, by, "transferred", json!({"changes": changes}));
        self.issue_mut(repository, number).gone = Some(Gone::Transferred(to, new_number));
        let changes = json!({"old_issue": self.show_issue(repository, number), "old_repository": self.show_repository(repository)});
        self.tells_issue(to, new_number, by, "opened", json!({"changes": changes}));
        new_number
    }
}

/// Adds what is special about an event.
pub(super) fn add(payload: &mut Value, extra: Value) {
    if let (Some(payload), Value::Object(extra)) = (payload.as_object_mut(), extra) {
        payload.extend(extra);
    }
}
