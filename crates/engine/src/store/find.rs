//! An environment by what people call it: by work, then branch, then path, then the beginning of its id, or its short
//! form, which is the end.

use hedgerow_core::{CodebaseId, Environment};

use super::Store;
use super::environments::{first, live, read, select};
use super::error::StoreError;

/// Shorter beginnings of an id are more likely a slip than an id.
const SHORTEST_ID: usize = 4;
/// Digits of an id's short form.
const SHORT_FORM: usize = 8;

/// Among which environments to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Live,
    /// In the trash, where a work or branch may be more than once: the newest counts.
    Trashed,
    /// Deleted, with a saved state in the vault: the newest counts.
    Saved,
}

/// The lookups of one scope, in order. `$1` is the codebase, `$2` the name.
struct Lookups {
    exact: [&'static str; 3],
    id: &'static str,
}

/// Expands to the lookups among environments of which `$among` (a condition) holds, `$order` deciding between equals.
macro_rules! lookups {
    ($among:expr, $path:literal, $order:literal) => {
        Lookups {
            exact: [
                select!(
                    "id IN (SELECT environment_id FROM environment_works WHERE codebase_id = $1 AND name = $2) AND ",
                    $among,
                    $order
                ),
                select!("codebase_id = $1 AND branch = $2 AND ", $among, $order),
                select!("codebase_id = $1 AND ", $path, " AND ", $among, $order),
            ],
            id: select!("codebase_id = $1 AND replace(id, '-', '') LIKE $2 AND ", $among, $order),
        }
    };
}

static LIVE: Lookups = lookups!(live!(), "path = $2", " ORDER BY created_at, id");
static TRASHED: Lookups =
    lookups!("state = 'trashed'", "(path = $2 OR trash_path = $2)", " ORDER BY trashed_at DESC, id DESC");
static SAVED: Lookups = lookups!(
    "state = 'destroyed' AND id IN (SELECT environment_id FROM saved_states WHERE expired_at IS NULL)",
    "path = $2",
    " ORDER BY (SELECT max(made_at) FROM saved_states WHERE environment_id = environments.id) DESC, id DESC"
);

impl Store {
    /// `Ambiguous` when the name is the beginning of more than one id.
    pub async fn find(
        &self,
        codebase: CodebaseId,
        name: &str,
        scope: Scope,
    ) -> Result<Option<Environment>, StoreError> {
        let lookups = match scope {
            Scope::Live => &LIVE,
            Scope::Trashed => &TRASHED,
            Scope::Saved => &SAVED,
        };
        let codebase = codebase.to_string();
        // A folder completed by a shell ends in a slash; stored paths do not.
        let bare = name.trim_end_matches('/');
        let mut connection = self.pool.acquire().await?;
        for select in lookups.exact {
            if let Some(found) = first(&mut connection, select, &[&codebase, bare]).await? {
                return Ok(Some(found));
            }
        }
        let digits = name.replace('-', "").to_ascii_lowercase();
        if digits.len() < SHORTEST_ID || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let mut found = read(&mut connection, lookups.id, &[&codebase, &format!("{digits}%")]).await?;
        if found.is_empty() && digits.len() >= SHORT_FORM {
            found = read(&mut connection, lookups.id, &[&codebase, &format!("%{digits}")]).await?;
        }
        if found.len() > 1 { Err(StoreError::Ambiguous(found.len())) } else { Ok(found.pop()) }
    }
}
