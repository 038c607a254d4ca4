//! Refs on objects that nothing else in the repository keeps.

use std::collections::BTreeSet;

use super::{GitResult, Repo};

impl Repo {
    /// Puts a ref below `prefix` on each of these objects that there is, whatever its kind.
    pub async fn keep_objects(&self, prefix: &str, names: &BTreeSet<String>) -> GitResult<()> {
        if names.is_empty() {
            return Ok(());
        }
        let asked = names.iter().fold(String::new(), |text, name| text + name + "\n");
        let call = self.call().args(["cat-file", "--batch-check=%(objectname) %(objecttype)"]);
        let out = call.stdin(asked).read().await?;
        let text = String::from_utf8_lossy(&out);
        let there = text.lines().filter_map(|line| line.split_once(' ')).filter(|(_, kind)| *kind != "missing");
        let refs: Vec<String> = there.map(|(name, _)| format!("update {prefix}{name} {name}\n")).collect();
        self.update_refs(refs.concat()).await
    }

    /// Takes all refs below `prefix` away again.
    pub async fn let_go_of_objects(&self, prefix: &str) -> GitResult<()> {
        let out = self.call().args(["for-each-ref", "--format=delete %(refname)", prefix]).read().await?;
        self.update_refs(String::from_utf8_lossy(&out).into_owned()).await
    }

    async fn update_refs(&self, commands: String) -> GitResult<()> {
        if commands.is_empty() {
            return Ok(());
        }
        self.call().args(["update-ref", "--stdin"]).stdin(commands).write().await.map(drop)
    }
}
