//! What a repository's own configuration could run, and how each of it is switched off.
//!
//! A clone brings no configuration along, but an unpacked archive does, and an agent may edit the one it shares with us.
//! Values that git would execute are therefore overridden on our command lines, unless the operator has looked at them
//! and said `hedgerow codebase trust`. The user's and system's configuration is never touched.

use std::path::Path;

use hedgerow_core::branch::short_hash;

use super::{GitError, GitResult};

/// One configuration entry and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub scope: Scope,
    /// As git prints it: section and name in lower case, the subsection as written.
    pub key: String,
    pub value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The user's, the system's, or ours on the command line.
    Trusted,
    /// The repository's.
    Local,
    /// One worktree's.
    Worktree,
}

/// The repository's configuration as far as it matters here.
#[derive(Debug, Clone, Default)]
pub struct Config {
    entries: Vec<Entry>,
    /// Content of `info/attributes`: it can attach a filter to a file without the repository showing it.
    attributes: String,
}

impl Config {
    /// From `git config --list --show-scope -z` and the common folder.
    pub fn read(listing: &[u8], common_dir: &Path) -> GitResult<Self> {
        let attributes = std::fs::read(common_dir.join("info/attributes")).unwrap_or_default();
        Ok(Self { entries: parse(listing)?, attributes: String::from_utf8_lossy(&attributes).into_owned() })
    }

    /// The last value of a key, as git would use it.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.entries.iter().rev().find(|entry| entry.key == key).map(|entry| entry.value.as_str())
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether another configuration may be in force in a single worktree: a file of its own, or an include that depends
    /// on the git folder or the branch.
    pub fn differs_by_worktree(&self) -> bool {
        let own_file = self.value("extensions.worktreeconfig").is_some_and(|value| !is_false(value));
        own_file || self.entries.iter().any(|entry| entry.key.starts_with("includeif."))
    }

    /// Whether the repository's own hazards are the same in both, each worktree's aside.
    pub fn has_same_hazards(&self, other: &Self) -> bool {
        self.lines(&[Scope::Local]) == other.lines(&[Scope::Local])
    }

    /// The user's, or the system's, own value.
    fn own_value(&self, key: &str) -> Option<&str> {
        let own = self.entries.iter().rev().find(|entry| entry.scope == Scope::Trusted && entry.key == key);
        own.map(|entry| entry.value.as_str())
    }

    fn hazards(&self, scopes: &[Scope]) -> impl Iterator<Item = (&Entry, Hazard)> {
        let scopes = scopes.to_vec();
        let own = self.entries.iter().filter(move |entry| scopes.contains(&entry.scope));
        own.filter_map(|entry| Some((entry, Hazard::of(&entry.key, &entry.value)?)))
    }

    /// Names of the repository's settings that could run a program.
    pub fn runnable(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .hazards(&[Scope::Local])
            .filter(|(_, hazard)| hazard.runs())
            .map(|(entry, _)| entry.key.clone())
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// The settings that switch the hazards of these scopes off.
    pub fn overrides(&self, scopes: &[Scope]) -> Vec<(String, String)> {
        let mut settings: Vec<(String, String)> = Vec::new();
        let mut found: Vec<Hazard> = Vec::new();
        for (entry, hazard) in self.hazards(scopes) {
            found.push(hazard);
            settings.extend(hazard.override_for(&entry.key, self));
        }
        if found.contains(&Hazard::Credential) {
            // An empty helper clears the list; the user's own helpers follow it again.
            settings.push(("credential.helper".to_owned(), String::new()));
            let own = self
                .entries
                .iter()
                .filter(|entry| entry.scope == Scope::Trusted && entry.key.starts_with("credential."));
            settings.extend(own.map(|entry| (entry.key.clone(), entry.value.clone())));
        }
        if found.contains(&Hazard::Lfs) {
            settings.extend(filter_off("filter.lfs"));
        }
        settings.dedup();
        settings
    }

    /// A line per hazard, in order: the key and a hash of its value. Two of these can be compared line by line.
    pub fn fingerprint(&self) -> String {
        let mut lines = self.lines(&[Scope::Local, Scope::Worktree]);
        if !self.attributes.trim().is_empty() {
            lines.push(format!("info/attributes {}", short_hash(&self.attributes, 16)));
        }
        lines.join("\n")
    }

    fn lines(&self, scopes: &[Scope]) -> Vec<String> {
        let hazards = self.hazards(scopes);
        let mut lines: Vec<String> =
            hazards.map(|(entry, _)| format!("{} {}", entry.key, short_hash(&entry.value, 16))).collect();
        lines.sort();
        lines
    }
}

/// Whether a setting names a program, or leads git or a person's own calls of it somewhere else.
pub(crate) fn can_run(key: &str) -> bool {
    let section = key.split('.').next().unwrap_or_default();
    let name = key.rsplit('.').next().unwrap_or_default();
    let is_of_people = match section {
        "core" => matches!(name, "fsmonitor" | "hookspath" | "editor" | "pager"),
        "sequence" => name == "editor",
        "alias" | "pager" | "gpg" | "difftool" | "mergetool" | "man" | "browser" | "hook" | "init" | "interactive"
        | "uploadpack" | "receive" => true,
        _ => false,
    };
    is_of_people || Hazard::of(key, "!").is_some()
}

/// The ways a setting can hurt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hazard {
    /// Runs on checkout and on comparing files.
    Filter,
    /// Makes the user's own LFS run further programs.
    Lfs,
    /// Runs on merging.
    MergeDriver,
    /// Runs on events, like a file in `hooks/`, from the releases of git on that have it.
    Hook,
    /// Runs to ask for a password.
    Credential,
    /// Runs as the connection to a remote.
    Transport,
    /// Runs in place of checking a submodule out.
    Submodule,
    /// Runs when a diff is shown; switched off by `--no-ext-diff` and `--no-textconv` where we show one.
    Diff,
    /// Lets git write where it should not: over its own folder, or a file of cookies.
    Unguarded,
    /// Runs nothing by itself, but sends git somewhere else.
    Redirect,
}

impl Hazard {
    fn of(key: &str, value: &str) -> Option<Self> {
        let section = key.split('.').next().unwrap_or_default();
        let name = key.rsplit('.').next().unwrap_or_default();
        match (section, name) {
            ("filter", "clean" | "smudge" | "process" | "required") => Some(Self::Filter),
            ("lfs", "path" | "clean" | "smudge" | "standalonetransferagent") => Some(Self::Lfs),
            ("merge", "driver") => Some(Self::MergeDriver),
            ("hook", "command") => Some(Self::Hook),
            ("diff", "external" | "command" | "textconv") => Some(Self::Diff),
            ("credential", _) => Some(Self::Credential),
            ("core", "sshcommand" | "gitproxy" | "askpass" | "alternaterefscommand")
            | ("remote", "uploadpack" | "receivepack" | "vcs") => Some(Self::Transport),
            // Initialising a submodule writes its harmless kinds of update (`checkout`, `rebase`) here.
            ("submodule", "update") if value.trim_start().starts_with('!') => Some(Self::Submodule),
            ("core", "protecthfs" | "protectntfs") | ("http", "savecookies") => Some(Self::Unguarded),
            ("core", "worktree" | "attributesfile")
            | ("url" | "include" | "includeif", _)
            | ("http", "proxy" | "sslverify" | "curloptresolve")
            | ("remote", "proxy") => Some(Self::Redirect),
            _ => None,
        }
    }

    const fn runs(self) -> bool {
        !matches!(self, Self::Redirect | Self::Unguarded)
    }

    fn override_for(self, key: &str, config: &Config) -> Vec<(String, String)> {
        let (prefix, name) = key.rsplit_once('.').unwrap_or((key, ""));
        let set = |value: &str| vec![(key.to_owned(), value.to_owned())];
        match self {
            Self::Filter => filter_of_the_user(prefix, config).unwrap_or_else(|| filter_off(prefix)),
            // A driver that says "conflict": safe, and never taken for merged.
            Self::MergeDriver => set("false"),
            Self::Hook => vec![(format!("{prefix}.enabled"), "false".to_owned())],
            // The first entry wins here, so that ours would come too late.
            Self::Transport if name == "gitproxy" => vec![("protocol.git.allow".to_owned(), "never".to_owned())],
            Self::Transport => match (config.own_value(key), name) {
                (Some(own), _) => set(own),
                (None, "sshcommand") => set("ssh"),
                (None, "alternaterefscommand") => set("true"),
                (None, "uploadpack") => set("git-upload-pack"),
                (None, "receivepack") => set("git-receive-pack"),
                // `git-remote-hedgerow-refuses` does not exist: such a remote cannot be used until it is trusted.
                (None, "vcs") => set("hedgerow-refuses"),
                // The password prompt is off already.
                _ => Vec::new(),
            },
            Self::Submodule => set("checkout"),
            Self::Credential if name == "helper" && prefix != "credential" => set(""),
            Self::Unguarded => set(if name == "savecookies" { "false" } else { "true" }),
            Self::Credential | Self::Lfs | Self::Diff | Self::Redirect => Vec::new(),
        }
    }
}

fn filter_off(prefix: &str) -> Vec<(String, String)> {
    let off = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
    off.map(|(name, value)| (format!("{prefix}.{name}"), value.to_owned())).into()
}

/// The user's own filter of that name, which the repository's hides; `git lfs install --local` does that.
fn filter_of_the_user(prefix: &str, config: &Config) -> Option<Vec<(String, String)>> {
    let key = |name: &str| format!("{prefix}.{name}");
    let own = |name: &str| config.own_value(&key(name)).map(str::to_owned);
    // A process that is set, even to nothing, keeps git from using the other two.
    let hides_process = own("process").is_none() && config.value(&key("process")).is_some();
    if hides_process || own("process").or_else(|| own("smudge")).or_else(|| own("clean")).is_none() {
        return None;
    }
    let process = own("process").map(|value| (key("process"), value));
    let rest = [("clean", ""), ("smudge", ""), ("required", "false")];
    let rest = rest.map(|(name, none)| (key(name), own(name).unwrap_or_else(|| none.to_owned())));
    Some(rest.into_iter().chain(process).collect())
}

/// What is stored with a codebase: the fingerprint last accepted, and whether its programs may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    pub trusted: bool,
    pub fingerprint: String,
}

impl Accepted {
    /// As found when the codebase was registered: remembered, not run.
    pub fn seen(config: &Config) -> Self {
        Self { trusted: false, fingerprint: config.fingerprint() }
    }

    /// A person has looked at it and wants it run.
    pub fn trusted(config: &Config) -> Self {
        Self { trusted: true, fingerprint: config.fingerprint() }
    }

    pub fn to_text(&self) -> String {
        format!("{}\n{}", if self.trusted { "trusted" } else { "seen" }, self.fingerprint)
    }

    pub fn parse(text: &str) -> Self {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        Self { trusted: first == "trusted", fingerprint: rest.to_owned() }
    }

    /// What differs now, one phrase each; empty when nothing does.
    pub fn changes(&self, now: &Config) -> Vec<String> {
        let before: Vec<(&str, &str)> = pairs(&self.fingerprint);
        let present = now.fingerprint();
        let after = pairs(&present);
        let mut changes = Vec::new();
        for (key, hash) in &after {
            match before.iter().find(|(name, _)| name == key) {
                None => changes.push(format!("`{key}` was added")),
                Some((_, old)) if old != hash && !before.contains(&(*key, *hash)) => {
                    changes.push(format!("`{key}` was changed"));
                }
                Some(_) => {}
            }
        }
        let removed = before.iter().filter(|(key, _)| !after.iter().any(|(name, _)| name == key));
        changes.extend(removed.map(|(key, _)| format!("`{key}` was removed")));
        changes.dedup();
        changes
    }
}

fn pairs(fingerprint: &str) -> Vec<(&str, &str)> {
    fingerprint.lines().filter_map(|line| line.rsplit_once(' ')).collect()
}

/// `scope NUL key LF value NUL …`; a key without a value has no LF.
fn parse(listing: &[u8]) -> GitResult<Vec<Entry>> {
    let unexpected = |got: String| GitError::Unexpected { what: "config --list".into(), got };
    let mut entries = Vec::new();
    let mut fields = listing.split(|byte| *byte == 0);
    while let Some(scope) = fields.next().filter(|scope| !scope.is_empty()) {
        let Some(pair) = fields.next() else {
            return Err(unexpected(format!("a scope `{}` without an entry", scope.escape_ascii())));
        };
        let mut halves = pair.splitn(2, |byte| *byte == b'\n');
        let raw_key = halves.next().unwrap_or_default();
        let entry = Entry {
            scope: match scope {
                b"local" => Scope::Local,
                b"worktree" => Scope::Worktree,
                _ => Scope::Trusted,
            },
            key: text(raw_key),
            value: halves.next().map_or_else(|| "true".to_owned(), text),
        };
        // What cannot be named exactly cannot be switched off.
        if std::str::from_utf8(raw_key).is_err() && Hazard::of(&entry.key, &entry.value).is_some() {
            return Err(unexpected(format!("a setting whose name is not UTF-8: `{}`", entry.key)));
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// Bytes that are no text are spelled out: two values never become one.
fn text(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(|_| bytes.escape_ascii().to_string(), str::to_owned)
}

/// Everything else git may take for true: `yes`, any number, no value at all.
fn is_false(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0" | "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(entries: &[(&str, &str, &str)]) -> Config {
        let mut listing = Vec::new();
        for (scope, key, value) in entries {
            listing.extend(format!("{scope}\0{key}\n{value}\0").bytes());
        }
        Config { entries: parse(&listing).expect("well formed"), attributes: String::new() }
    }

    #[test]
    fn a_repositorys_programs_are_switched_off_and_the_users_stay() {
        let config = config(&[
            ("global", "credential.helper", "store"),
            ("global", "filter.lfs.smudge", "git-lfs smudge -- %f"),
            ("local", "filter.evil.smudge", "touch /tmp/x"),
            ("local", "credential.helper", "!evil"),
            ("local", "core.sshcommand", "evil"),
            ("local", "user.name", "Alice"),
        ]);
        let off = config.overrides(&[Scope::Local]);
        let off: Vec<String> = off.iter().map(|(key, value)| format!("{key}={value}")).collect();
        for wanted in
            ["filter.evil.smudge=", "filter.evil.process=", "filter.evil.required=false", "core.sshcommand=ssh"]
        {
            assert!(off.iter().any(|setting| setting == wanted), "{wanted} in {off:?}");
        }
        let reset = off.iter().position(|s| s == "credential.helper=").expect("the list is cleared");
        let again = off.iter().position(|s| s == "credential.helper=store").expect("the user's helper is back");
        assert!(reset < again);
        assert!(!off.iter().any(|setting| setting.contains("lfs") || setting.contains("user.name")));
        assert_eq!(config.runnable(), ["core.sshcommand", "credential.helper", "filter.evil.smudge"]);
    }

    #[test]
    fn what_git_is_not_asked_to_run_here_is_switched_off_all_the_same() {
        let config = config(&[
            ("global", "filter.lfs.process", "git-lfs filter-process"),
            ("local", "filter.lfs.clean", "evil"),
            ("local", "lfs.customtransfer.x.path", "evil"),
            ("local", "hook.h.command", "evil"),
            ("local", "core.protecthfs", "false"),
            ("local", "http.https://a=b/.savecookies", "true"),
            ("local", "submodule.a.update", "!evil"),
            ("local", "submodule.b.update", "rebase"),
        ]);
        let off = config.overrides(&[Scope::Local]);
        let last = |key: &str| off.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
        assert_eq!(last("filter.lfs.process"), Some(""), "the user's LFS would run the repository's program");
        assert_eq!(last("hook.h.enabled"), Some("false"));
        assert_eq!(last("core.protecthfs"), Some("true"));
        assert_eq!(last("http.https://a=b/.savecookies"), Some("false"));
        assert_eq!((last("submodule.a.update"), last("submodule.b.update")), (Some("checkout"), None));
    }

    #[test]
    fn a_hazard_that_cannot_be_named_is_an_error_and_a_harmless_name_is_not() {
        assert!(parse(b"local\0filter.\xff.smudge\nevil\0").is_err());
        assert_eq!(parse(b"local\0branch.\xff.remote\norigin\0").expect("reads").len(), 1);
        let value = |bytes: &[u8]| parse(&[b"local\0core.sshcommand\n", bytes, b"\0"].concat()).expect("reads");
        assert_ne!(value(b"\xff"), value(b"\xfe"), "two programs never look like one");
    }

    #[test]
    fn changes_are_named_one_by_one() {
        let before = config(&[("local", "filter.a.smudge", "x"), ("local", "url.https://b/.insteadof", "y")]);
        let accepted = Accepted::parse(&Accepted::seen(&before).to_text());
        assert_eq!(accepted.changes(&before), Vec::<String>::new());
        let after = config(&[("local", "filter.a.smudge", "z"), ("local", "core.sshcommand", "q")]);
        let changes = accepted.changes(&after);
        assert_eq!(
            changes,
            ["`core.sshcommand` was added", "`filter.a.smudge` was changed", "`url.https://b/.insteadof` was removed"]
        );
    }
}
