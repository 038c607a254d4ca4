//! Reading columns: a value that breaks our own rules names its column instead of passing for something else.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::anyhow;
use hedgerow_core::{BranchName, CommitSha, Timestamp};
use sqlx::any::AnyRow;
use sqlx::{Any, Decode, Row as _, Type};

use super::error::StoreError;

/// A row of a table, for reading.
pub(super) struct Row<'r>(pub(super) &'r AnyRow);

impl<'r> Row<'r> {
    fn value<T: Decode<'r, Any> + Type<Any>>(&self, column: &str) -> Result<T, StoreError> {
        Ok(self.0.try_get(column)?)
    }

    pub(super) fn text(&self, column: &str) -> Result<String, StoreError> {
        self.value(column)
    }

    pub(super) fn maybe_text(&self, column: &str) -> Result<Option<String>, StoreError> {
        self.value(column)
    }

    pub(super) fn maybe_number<T: TryFrom<i64>>(&self, column: &str) -> Result<Option<T>, StoreError> {
        let number: Option<i64> = self.value(column)?;
        number.map(|n| T::try_from(n).map_err(|_| wrong(column, "number out of range"))).transpose()
    }

    pub(super) fn number<T: TryFrom<i64>>(&self, column: &str) -> Result<T, StoreError> {
        self.maybe_number(column)?.ok_or_else(|| wrong(column, "value missing"))
    }

    pub(super) fn flag(&self, column: &str) -> Result<bool, StoreError> {
        Ok(self.maybe_number::<i64>(column)?.unwrap_or_default() != 0)
    }

    pub(super) fn time(&self, column: &str) -> Result<Timestamp, StoreError> {
        Ok(Timestamp::from_millis(self.number(column)?))
    }

    pub(super) fn maybe_time(&self, column: &str) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.maybe_number(column)?.map(Timestamp::from_millis))
    }

    /// An id or one of a closed set of words.
    pub(super) fn parsed<T: FromStr<Err: Display>>(&self, column: &str) -> Result<T, StoreError> {
        self.text(column)?.parse().map_err(|error| wrong(column, error))
    }

    pub(super) fn maybe_parsed<T: FromStr<Err: Display>>(&self, column: &str) -> Result<Option<T>, StoreError> {
        self.maybe_text(column)?.map(|text| text.parse().map_err(|error| wrong(column, error))).transpose()
    }

    pub(super) fn path(&self, column: &str) -> Result<PathBuf, StoreError> {
        self.text(column).map(PathBuf::from)
    }

    pub(super) fn branch(&self, column: &str) -> Result<BranchName, StoreError> {
        BranchName::parse(&self.text(column)?).map_err(|error| wrong(column, error))
    }

    pub(super) fn maybe_branch(&self, column: &str) -> Result<Option<BranchName>, StoreError> {
        self.maybe_text(column)?.map(|text| BranchName::parse(&text).map_err(|error| wrong(column, error))).transpose()
    }

    pub(super) fn maybe_sha(&self, column: &str) -> Result<Option<CommitSha>, StoreError> {
        self.maybe_text(column)?.map(|text| CommitSha::parse(&text).map_err(|error| wrong(column, error))).transpose()
    }
}

pub(super) fn wrong(column: &str, why: impl Display) -> StoreError {
    StoreError::Other(anyhow!("the database holds a wrong value in `{column}`: {why}"))
}

/// A path as it is stored. Paths are compared as text, so one that is no text is refused rather than bent.
pub(super) fn path_text(path: &Path) -> Result<String, StoreError> {
    path.to_str().map(str::to_owned).ok_or_else(|| StoreError::not_utf8(path))
}

/// Words of people and programs, which PostgreSQL refuses when they hold a zero byte.
pub(super) fn free_text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// A count as it is stored.
pub(super) fn stored(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number).map_err(|_| StoreError::Other(anyhow!("{number} is too large for the database")))
}
