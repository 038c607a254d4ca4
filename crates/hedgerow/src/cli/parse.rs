//! Values of arguments, checked where they come in.

use hedgerow_core::{BranchName, CommitSha};

/// The number of an issue or pull request, with or without `#`.
pub(super) fn number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    let number = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u64>().ok()).flatten();
    number
        .filter(|number| *number > 0 && *number <= i64::MAX.unsigned_abs())
        .ok_or_else(|| "it must be a whole number above 0, such as 42".to_owned())
}

pub(super) fn branch(text: &str) -> Result<BranchName, String> {
    BranchName::parse(text).map_err(|error| error.why.to_owned())
}

pub(super) fn sha(text: &str) -> Result<CommitSha, String> {
    CommitSha::parse(text).map_err(|_| "it must be a full commit sha (40 or 64 hexadecimal digits)".to_owned())
}

/// Text with something in it.
pub(super) fn text(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("it must not be empty".to_owned()) } else { Ok(text.to_owned()) }
}
