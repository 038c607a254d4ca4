//! Prompt templates of a codebase: markdown files of its base branch that people call like commands.
//!
//! They are read from the base commit and never from an environment's disk: what an agent or a pull request writes must
//! not become what the next person says.

mod front_matter;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hedgerow_core::command::{can_name_template, nearest_of, template_words};
use hedgerow_core::{Codebase, Kind, UserError};

use crate::engine::Engine;
use crate::failure::{Failure, Outcome};
use crate::replies;

/// Longer than any prompt a person writes.
const MOST_BYTES: usize = 64 << 10;
/// So many templates are opened for a list; each is a question to git.
const MOST_OPENED: usize = 60;
/// Where templates are when nobody says anything else. The first is flat; in the second a subfolder goes before the
/// name, with a colon.
const FLAT: &str = ".hedgerow/commands";
const DEEP: &str = ".claude/commands";

/// A prompt with places for arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub description: Option<String>,
    /// What to write after its name, for people.
    pub arguments: Option<String>,
    /// `isolation: none` says that it only looks, and needs no environment of its own.
    pub isolated: bool,
    pub disallowed_tools: Vec<String>,
    pub prompt: String,
}

impl Template {
    /// The prompt with its arguments: `$ARGUMENTS` is all of them as they were written, `$1` to `$9` each on its own.
    /// Arguments of a prompt that has no place for any are added at its end.
    pub fn fill(&self, args: &str) -> String {
        let args = args.trim();
        let words = template_words(args);
        let mut filled = String::with_capacity(self.prompt.len() + args.len());
        let mut has_place = false;
        let mut rest = self.prompt.as_str();
        while let Some(at) = rest.find('$') {
            filled.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix("ARGUMENTS") {
                filled.push_str(args);
                rest = after;
                has_place = true;
            } else if let Some((number, after)) = placeholder(rest) {
                filled.push_str(words.get(number - 1).map_or("", String::as_str));
                rest = after;
                has_place = true;
            } else {
                filled.push('$');
            }
        }
        filled.push_str(rest);
        if !has_place && !args.is_empty() {
            filled = format!("{}\n\n{args}", filled.trim_end());
        }
        filled
    }
}

/// `1` to `9`. A longer number is an amount of money and no place for an argument.
fn placeholder(text: &str) -> Option<(usize, &str)> {
    let mut chars = text.chars();
    let number = chars.next()?.to_digit(10).filter(|digit| *digit > 0)?;
    let after = chars.as_str();
    let is_longer = after.starts_with(|c: char| c.is_ascii_digit());
    (!is_longer).then_some((number as usize, after))
}

impl Engine {
    /// The template of that name. In order: one that was set with `/command-set`, those that the repository's
    /// configuration names, those in the usual folders.
    pub async fn template(&self, codebase: &Codebase, name: &str) -> Outcome<Option<Template>> {
        if !can_name_template(name) {
            return Ok(None);
        }
        if let Some(path) = self.store.template(codebase.id, name).await? {
            return self.require_template(codebase, name, &path).await.map(Some);
        }
        for path in self.candidates(codebase, name).await? {
            if let Some(template) = self.template_at(codebase, &path).await? {
                return Ok(Some(template));
            }
        }
        Ok(None)
    }

    /// Every template by name, with what it is for. What is wrong with one is its description.
    pub async fn template_names(&self, codebase: &Codebase) -> Outcome<Vec<(String, Option<String>)>> {
        let mut found = Vec::new();
        for (position, (name, path)) in self.template_paths(codebase).await?.into_iter().enumerate() {
            let described = if position < MOST_OPENED { self.described(codebase, &path).await? } else { None };
            found.push((name, described));
        }
        Ok(found)
    }

    async fn described(&self, codebase: &Codebase, path: &Path) -> Outcome<Option<String>> {
        match self.template_at(codebase, path).await {
            Ok(Some(template)) => Ok(template.description),
            Ok(None) => Ok(Some(format!("`{}` is not on the base branch", path.display()))),
            Err(Failure::User(error)) => Ok(Some(error.message)),
            Err(internal) => Err(internal),
        }
    }

    /// What is answered to a slash and a name that is neither a command nor a template.
    pub async fn unknown_command(&self, codebase: Option<&Codebase>, typed: &str) -> Outcome<String> {
        let templates = match codebase {
            Some(codebase) => self.template_paths(codebase).await?,
            None => BTreeMap::new(),
        };
        Ok(replies::unknown(typed, nearest_of(typed, templates.keys().map(String::as_str))))
    }

    /// The file of the base branch as a template. `None` when there is no such file.
    pub(crate) async fn template_at(&self, codebase: &Codebase, path: &Path) -> Outcome<Option<Template>> {
        let Some(bytes) = self.base_file(codebase, path, MOST_BYTES).await? else { return Ok(None) };
        let shown = path.display();
        let refuse = |why: String| {
            let error = UserError::new(Kind::Usage, format!("`{shown}` cannot be used as a template: {why}"));
            error.hint("change it on the base branch")
        };
        let text = String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8".to_owned()))?;
        let template = front_matter::read(&text).map_err(|bad| refuse(bad.to_string()))?;
        if template.prompt.trim().is_empty() {
            return Err(refuse("it says nothing".to_owned()).into());
        }
        Ok(Some(template))
    }

    /// `NotFound` when the file is not on the base branch.
    pub(crate) async fn require_template(&self, codebase: &Codebase, name: &str, path: &Path) -> Outcome<Template> {
        self.template_at(codebase, path).await?.ok_or_else(|| {
            let what = format!("`{}` is not on the base branch of `{}`", path.display(), codebase.name);
            let set = format!("bring it there, or choose another file: `/command-set {name} <path>`");
            UserError::new(Kind::NotFound, what).hint(set).into()
        })
    }

    /// The markdown files below a folder of the base branch, each under the name it would have.
    pub(crate) async fn templates_below(
        &self,
        codebase: &Codebase,
        folder: &Path,
    ) -> Outcome<Vec<(Option<String>, PathBuf)>> {
        let mut files = self.base_files(codebase, folder).await?;
        files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
        Ok(files.into_iter().map(|path| (name_of(&path, folder), path)).collect())
    }

    /// Where the template of that name would be, the best place first.
    async fn candidates(&self, codebase: &Codebase, name: &str) -> Outcome<Vec<PathBuf>> {
        let below = |folder: &Path| folder.join(format!("{}.md", name.replace(':', "/")));
        let mut paths = Vec::new();
        for place in self.repository_config(codebase).await?.commands {
            if !is_markdown(&place) {
                paths.push(below(&place));
            } else if name_of(&place, &place).as_deref() == Some(name) {
                paths.push(place);
            }
        }
        if !name.contains(':') {
            paths.push(below(Path::new(FLAT)));
        }
        paths.push(below(Path::new(DEEP)));
        // A name is not a way out of its folder.
        paths.retain(|path| path.components().all(|part| part.as_os_str() != ".."));
        Ok(paths)
    }

    /// The file of every template, by name.
    async fn template_paths(&self, codebase: &Codebase) -> Outcome<BTreeMap<String, PathBuf>> {
        let mut places = self.repository_config(codebase).await?.commands;
        places.extend([FLAT, DEEP].map(PathBuf::from));
        let mut paths: BTreeMap<String, PathBuf> = self.store.templates(codebase.id).await?.into_iter().collect();
        for place in places {
            let is_flat = place == Path::new(FLAT);
            for (name, path) in self.templates_below(codebase, &place).await? {
                let Some(name) = name.filter(|name| !is_flat || !name.contains(':')) else { continue };
                paths.entry(name).or_insert(path);
            }
        }
        Ok(paths)
    }
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// What a file below a folder is called: its path without the ending, with colons. `None` when a command is called so,
/// or when nobody could type it.
fn name_of(path: &Path, folder: &Path) -> Option<String> {
    let inside = path.strip_prefix(folder).ok().filter(|inside| !inside.as_os_str().is_empty());
    let inside = inside.or_else(|| path.file_name().map(Path::new))?.with_extension("");
    let parts: Option<Vec<&str>> = inside.iter().map(|part| part.to_str().filter(|part| !part.contains(':'))).collect();
    Some(parts?.join(":")).filter(|name| can_name_template(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(text: &str) -> Template {
        let (description, arguments) = (None, None);
        Template { description, arguments, isolated: true, disallowed_tools: Vec::new(), prompt: text.to_owned() }
    }

    #[test]
    fn arguments_go_to_their_places() {
        let table = [
            ("Fix $1 in $2.", "issue-1 \"the shop\" now", "Fix issue-1 in the shop."),
            ("Fix $ARGUMENTS!", "  all of it  ", "Fix all of it!"),
            ("$1$2$9", "a b", "ab"),
            ("It costs $100, $0 or $x", "", "It costs $100, $0 or $x"),
            ("Say $1", "$2 $ARGUMENTS", "Say $2"),
            ("Look.\n", "at this", "Look.\n\nat this"),
            ("Look.\n", "", "Look.\n"),
            ("100 $", "", "100 $"),
        ];
        for (text, args, filled) in table {
            assert_eq!(prompt(text).fill(args), filled, "{text}");
        }
    }

    #[test]
    fn a_file_is_called_by_its_path() {
        let name = |path: &str, folder: &str| name_of(Path::new(path), Path::new(folder));
        assert_eq!(name("a/plan.md", "a").as_deref(), Some("plan"));
        assert_eq!(name("a/team/plan.md", "a").as_deref(), Some("team:plan"));
        assert_eq!(name("a/v1.2.md", "a").as_deref(), Some("v1.2"));
        assert_eq!(name("docs/plan.md", "docs/plan.md").as_deref(), Some("plan"));
        for bad in ["a/help.md", "a/my plan.md", "a/.md", "a/x:y.md", "a/worktree.md"] {
            assert_eq!(name(bad, "a"), None, "{bad}");
        }
    }
}
