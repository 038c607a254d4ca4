//! Repositories that have another name than before. Remotes keep the old one, and GitHub leads from it to the new one.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use hedgerow_core::RepositoryName;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::client::CallError;
use super::{GitHub, remote};

/// So many are asked about in one query.
const MOST_AT_ONCE: usize = 50;
/// More codebases than this are no longer those of one machine.
const MOST: usize = 1000;

/// Old names, and what each leads to. Learned when somebody asks about a name that no remote has.
#[derive(Debug, Default)]
pub(super) struct Renamed(Mutex<HashMap<RepositoryName, RepositoryName>>);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    name_with_owner: String,
}

impl Renamed {
    /// The present name of what was called so, as far as is known.
    pub(super) fn now(&self, name: RepositoryName) -> RepositoryName {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(&name).cloned().unwrap_or(name)
    }

    /// An old name may belong to another repository by now, so what was known of it goes. What is not seen stays known: who
    /// opens one repository does not see the others.
    fn learn(&self, name: &RepositoryName, now: Option<RepositoryName>) {
        let Some(now) = now else { return };
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now == *name {
            names.remove(name);
        } else {
            names.insert(name.clone(), now);
        }
    }
}

impl GitHub {
    /// Asks where the names in these remotes lead, with what opens `repository`.
    pub(super) async fn fetch_names(&self, remotes: &[&str], repository: &RepositoryName) -> Result<(), CallError> {
        let names = remotes.iter().filter_map(|url| remote::repository(&self.config.web_url, url));
        let names: Vec<RepositoryName> = names.take(MOST).collect();
        for names in names.chunks(MOST_AT_ONCE) {
            let (query, variables) = query(names);
            let found = self.client.graphql::<BTreeMap<String, Option<Named>>>(repository, &query, variables).await;
            let mut found = match found {
                // Nothing of it is there, or for us to see.
                Err(CallError::NotFound(_)) => BTreeMap::new(),
                found => found?,
            };
            for (index, name) in names.iter().enumerate() {
                let named = found.remove(&format!("r{index}")).flatten();
                self.renamed.learn(name, named.and_then(|named| named.name_with_owner.parse().ok()));
            }
        }
        Ok(())
    }
}

fn query(names: &[RepositoryName]) -> (String, Value) {
    let (mut head, mut body, mut variables) = (String::new(), String::new(), Map::new());
    for (index, name) in names.iter().enumerate() {
        let _ = write!(head, "$o{index}: String!, $n{index}: String!, ");
        let _ = write!(body, " r{index}: repository(owner: $o{index}, name: $n{index}) {{ nameWithOwner }}");
        variables.insert(format!("o{index}"), name.owner().into());
        variables.insert(format!("n{index}"), name.name().into());
    }
    (format!("query Names({}) {{{body} }}", head.trim_end_matches(", ")), Value::Object(variables))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> RepositoryName {
        text.parse().expect("a name")
    }

    #[test]
    fn a_name_leads_on_until_it_is_somebody_else_s() {
        let renamed = Renamed::default();
        assert_eq!(renamed.now(name("acme/shop")), name("acme/shop"));
        renamed.learn(&name("acme/shop"), Some(name("umbrella/store")));
        assert_eq!(renamed.now(name("Acme/Shop")), name("umbrella/store"));
        renamed.learn(&name("acme/shop"), None);
        assert_eq!(renamed.now(name("acme/shop")), name("umbrella/store"), "not to see it is not to know better");
        renamed.learn(&name("acme/shop"), Some(name("ACME/shop")));
        assert_eq!(renamed.now(name("acme/shop")), name("acme/shop"));
    }

    #[test]
    fn one_query_asks_about_many_names() {
        let (query, variables) = query(&[name("a/b"), name("c/d")]);
        let wanted = "query Names($o0: String!, $n0: String!, $o1: String!, $n1: String!) { \
                      r0: repository(owner: $o0, name: $n0) { nameWithOwner } \
                      r1: repository(owner: $o1, name: $n1) { nameWithOwner } }";
        assert_eq!(query, wanted);
        assert_eq!(variables, serde_json::json!({"o0": "a", "n0": "b", "o1": "c", "n1": "d"}));
    }
}
