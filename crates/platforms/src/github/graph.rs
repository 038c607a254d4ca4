//! The forms that answers of GraphQL have: a thing in a repository, and lists whose entries may be missing.

use hedgerow_core::RepositoryName;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::client::{CallError, Client};

#[derive(Debug, Deserialize)]
struct Answer<T> {
    repository: Option<Repository<T>>,
}

#[derive(Debug, Deserialize)]
struct Repository<T> {
    #[serde(alias = "pullRequest", alias = "issue")]
    thing: Option<T>,
}

/// A list. An entry that we may not see is null.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Nodes<T> {
    /// How many there are, of which these are some.
    #[serde(default)]
    pub(super) total_count: usize,
    nodes: Option<Vec<Option<T>>>,
}

impl<T> Nodes<T> {
    pub(super) fn of(things: Vec<T>) -> Self {
        Self { total_count: things.len(), nodes: Some(things.into_iter().map(Some).collect()) }
    }
}

/// The entries of a list that may be missing as a whole.
pub(super) fn each<T>(list: Option<&Nodes<T>>) -> impl DoubleEndedIterator<Item = &T> {
    list.into_iter().flat_map(|list| list.nodes.iter().flatten().flatten())
}

/// Asks about one issue or pull request. The query takes `$owner`, `$name` and `$number`.
pub(super) async fn ask<T: DeserializeOwned>(
    client: &Client,
    repository: &RepositoryName,
    number: u64,
    query: &str,
) -> Result<T, CallError> {
    let variables = serde_json::json!({"owner": repository.owner(), "name": repository.name(), "number": number});
    let answer: Answer<T> = client.graphql(repository, query, variables).await?;
    thing_of(answer).ok_or_else(|| CallError::NotFound(format!("{repository}#{number}")))
}

fn thing_of<T>(answer: Answer<T>) -> Option<T> {
    answer.repository?.thing
}

/// The thing in what is under `data`, for tests of what is made of it.
#[cfg(test)]
pub(super) fn read<T: DeserializeOwned>(data: serde_json::Value) -> Option<T> {
    thing_of(serde_json::from_value(data).expect("an answer"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Titles {
        list: Option<Nodes<String>>,
    }

    #[test]
    fn what_is_missing_in_an_answer_is_missing() {
        assert!(read::<Titles>(json!({"repository": null})).is_none());
        assert!(read::<Titles>(json!({"repository": {"issue": null}})).is_none());
        for list in
            [json!({}), json!({"list": null}), json!({"list": {"nodes": null}}), json!({"list": {"nodes": [null]}})]
        {
            let titles: Titles = read(json!({"repository": {"pullRequest": list}})).expect("a thing");
            assert_eq!(each(titles.list.as_ref()).count(), 0);
        }
        let list = json!({"repository": {"issue": {"list": {"totalCount": 9, "nodes": ["a", null, "b"]}}}});
        let titles: Titles = read(list).expect("a thing");
        assert_eq!(each(titles.list.as_ref()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(titles.list.map(|list| list.total_count), Some(9));
    }
}
