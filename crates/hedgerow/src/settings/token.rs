//! The token that callers of the server show: the one a person set, else one that is made once and kept in the home.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use hedgerow_core::{Kind, UserError};

use super::checks;
use hedgerow_core::Secret;

/// Longer than any token.
const MOST_BYTES: u64 = 4096;

/// Where it is kept.
pub(crate) fn file(home: &Path) -> PathBuf {
    home.join("token")
}

/// The token that was set, else the one in the home, else a new one that is in the home from now on.
pub(crate) fn token(set: Option<&Secret>, home: &Path) -> Result<Secret, UserError> {
    if let Some(set) = set {
        return Ok(set.clone());
    }
    let path = file(home);
    let cannot = |error: io::Error| {
        UserError::new(Kind::Failed, format!("cannot keep a token in {}: {error}", path.display()))
            .hint("make the folder writable, or set HEDGEROW_TOKEN")
    };
    match File::open(&path) {
        Ok(file) => read(file, &path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make(home, &path).map_err(cannot)?;
            // Whoever came first has made it; all go on with what is there.
            read(File::open(&path).map_err(cannot)?, &path)
        }
        Err(error) => Err(cannot(error)),
    }
}

/// Puts a new token in place, whole and private from the first moment. One that is there already stays.
fn make(home: &Path, path: &Path) -> io::Result<()> {
    let text = hedgerow_engine::token::new_secret()?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(home)?;
    // A temporary file is its owner's alone.
    let mut staged = tempfile::NamedTempFile::new_in(home)?;
    writeln!(staged, "{text}")?;
    staged.as_file().sync_all()?;
    match staged.persist_noclobber(path) {
        Ok(_) => File::open(home)?.sync_all(),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.error),
    }
}

fn read(file: File, path: &Path) -> Result<Secret, UserError> {
    let shown = path.display();
    let cannot = |error: io::Error| UserError::new(Kind::Failed, format!("cannot read {shown}: {error}"));
    let facts = file.metadata().map_err(cannot)?;
    if facts.mode() & 0o077 != 0 {
        let message = format!("others on this machine may use {shown} (mode {:04o})", facts.mode() & 0o7777);
        return Err(UserError::new(Kind::Usage, message)
            .hint(format!("`chmod 600 {shown}`; if somebody may have read it, delete it and a new one is made")));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(cannot)?;
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    checks::token(text.strip_suffix('\n').unwrap_or(text)).map_err(|must| {
        UserError::new(Kind::Usage, format!("the token in {shown} {must}"))
            .hint("delete the file, and a new one is made at the next start")
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn home() -> tempfile::TempDir {
        tempfile::tempdir().expect("a scratch folder")
    }

    #[test]
    fn the_first_start_makes_a_token_and_every_later_one_finds_it() {
        let home = home();
        let below = home.path().join("not/yet");
        let first = token(None, &below).expect("it is made");
        assert_eq!(first.reveal().len(), 64);
        assert_eq!(token(None, &below).expect("it is found").reveal(), first.reveal());
        let mode = fs::metadata(file(&below)).expect("it is there").mode();
        assert_eq!(mode & 0o7777, 0o600);
        assert_eq!(fs::read_dir(&below).expect("a folder").count(), 1, "nothing else is left");
        assert_ne!(token(None, home.path()).expect("another").reveal(), first.reveal());
    }

    #[test]
    fn many_first_starts_agree_on_one_token() {
        let home = home();
        let tokens: Vec<Secret> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..8).map(|_| scope.spawn(|| token(None, home.path()))).collect();
            starts.into_iter().map(|start| start.join().expect("no panic").expect("a token")).collect()
        });
        assert!(tokens.iter().all(|other| other == &tokens[0]));
    }

    #[test]
    fn a_token_that_was_set_needs_no_file() {
        let home = home();
        let set = Secret::new("correct-horse-battery");
        assert_eq!(token(Some(&set), home.path()).expect("it is set"), set);
        assert!(!file(home.path()).exists());
    }

    #[test]
    fn a_file_that_others_may_read_or_change_is_refused_with_the_way_out() {
        let home = home();
        let path = file(home.path());
        fs::write(&path, "correct-horse-battery\n").expect("writes");
        for mode in [0o640, 0o604, 0o620, 0o601] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("chmod");
            let error = token(None, home.path()).expect_err("others may use it");
            assert!(error.hints[0].contains(&format!("chmod 600 {}", path.display())), "{error:?}");
            assert!(!format!("{error:?}").contains("horse"), "{error:?}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).expect("chmod");
        assert_eq!(token(None, home.path()).expect("its own").reveal(), "correct-horse-battery");
    }

    #[test]
    fn a_file_without_a_token_in_it_is_refused_and_left_alone() {
        let home = home();
        let path = file(home.path());
        for content in [&b""[..], b"short\n", b"spaces in between here\n", b"\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe"]
        {
            let _ = fs::remove_file(&path);
            fs::write(&path, content).expect("writes");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("chmod");
            assert!(token(None, home.path()).is_err(), "{content:?}");
            assert_eq!(fs::read(&path).expect("still there"), content);
        }
    }
}
