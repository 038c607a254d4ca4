//! `hedgerow github setup`: what GitHub must be told, and on request the App itself.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hedgerow_core::{Kind, UserError};
use hedgerow_engine::Outcome;
use hedgerow_platforms::github::manifest::{self, Created, EVENTS, LONGEST_NAME, PERMISSIONS, Wish};
use hedgerow_platforms::github::post::fetch_created;
use serde_json::json;

use super::page::Waiting;
use crate::output::Output;
use crate::settings::{Configuration, GitHubSettings};
use crate::words::{self, quoted};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hedgerow github setup --url https://hedgerow.example
  hedgerow github setup --url https://hedgerow.example --org acme --create

With --create a page of this machine is opened in your browser; it takes you to GitHub with the form filled in, and the \
key and the secret of the new App come back into files of Hedgerow's home that only you can read. docs/github.md tells \
the whole story.")]
pub(in crate::cli) struct Arguments {
    /// Where GitHub reaches the server, such as `https://hedgerow.example`
    #[arg(long, value_name = "URL", value_parser = server_url)]
    url: String,
    /// The organization that the App is to belong to; otherwise it is yours
    #[arg(long, value_name = "NAME", value_parser = organization)]
    org: Option<String>,
    /// What the App is called; you can change it at GitHub
    #[arg(long, value_parser = app_name)]
    name: Option<String>,
    /// Make the App now, in your browser
    #[arg(long)]
    create: bool,
}

fn server_url(text: &str) -> Result<String, String> {
    let url = text.trim_end_matches('/');
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/[]".contains(&byte);
    if !rest.is_empty() && !rest.starts_with(['/', ':']) && rest.bytes().all(is_plain) {
        Ok(url.to_owned())
    } else {
        Err("it must be a URL such as https://hedgerow.example".to_owned())
    }
}

fn organization(text: &str) -> Result<String, String> {
    if manifest::is_organization(text) {
        Ok(text.to_owned())
    } else {
        Err("it must be the name of an organization as in its URL".to_owned())
    }
}

fn app_name(text: &str) -> Result<String, String> {
    let is_good = (1..=LONGEST_NAME).contains(&text.chars().count()) && !text.contains(char::is_control);
    if is_good { Ok(text.to_owned()) } else { Err(format!("it must have 1 to {LONGEST_NAME} characters")) }
}

pub(super) async fn run(wanted: &Arguments, read: &Configuration, out: &Output) -> Outcome<ExitCode> {
    let home = &read.settings.home;
    let name = wanted.name.clone().unwrap_or_else(|| {
        let bot = &read.settings.runs.bot_name;
        let whole = wanted.org.as_ref().map_or_else(|| bot.clone(), |org| format!("{bot}-{org}"));
        whole.chars().take(LONGEST_NAME).collect()
    });
    if wanted.create {
        create(wanted, &name, home, &read.server.github, out).await?;
    } else {
        explain(wanted, &name, &read.server.github, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn explain(wanted: &Arguments, name: &str, github: &GitHubSettings, out: &Output) -> Outcome<()> {
    let wish = Wish { name, server_url: &wanted.url, redirect_url: None };
    let (webhook_url, manifest) = (manifest::webhook_url(&wanted.url), manifest::manifest(&wish));
    if out.is_json() {
        return out.json(&json!({
            "webhook_url": webhook_url,
            "content_type": "application/json",
            "permissions": PERMISSIONS,
            "events": EVENTS,
            "manifest": manifest,
        }));
    }
    let again = format!(
        "hedgerow github setup --url {}{} --create",
        quoted(&wanted.url),
        wanted.org.as_ref().map(|org| format!(" --org {}", quoted(org))).unwrap_or_default()
    );
    let manifest = serde_json::to_string_pretty(&manifest).map_err(anyhow::Error::from)?;
    out.say(&words::github::setup(&webhook_url, &github.web_url, wanted.org.as_deref(), &again, &manifest));
    if !wanted.url.starts_with("https://") {
        out.note("over `http://` what GitHub delivers can be read on its way; put a proxy with TLS before the server");
    }
    Ok(())
}

/// Where the secrets of a new App are put.
struct Files {
    key: PathBuf,
    variables: PathBuf,
}

async fn create(wanted: &Arguments, name: &str, home: &Path, github: &GitHubSettings, out: &Output) -> Outcome<()> {
    let files = Files { key: home.join("github-app.pem"), variables: home.join("github.env") };
    files.are_free()?;
    let page = Waiting::open(name, &wanted.url, &github.web_url, wanted.org.as_deref()).await?;
    if out.is_json() {
        out.json_line(&json!({"open": page.url}))?;
    } else {
        out.say(&words::github::open_page(&page.url));
    }
    let code = page.code().await?;
    let created = fetch_created(&github.api_url, &code).await.map_err(|why| {
        let apps = match &wanted.org {
            Some(org) => format!("{}/organizations/{org}/settings/apps", github.web_url),
            None => format!("{}/settings/apps", github.web_url),
        };
        UserError::new(Kind::Failed, format!("the App was made, but its key could not be fetched: {why}"))
            .hint(format!("delete it at {apps} and run this again, or make a key for it there"))
    })?;
    files.write(&created, github).map_err(|error| {
        let message = format!("the App `{}` was made, but its secrets could not be kept: {error}", created.slug);
        UserError::new(Kind::Failed, message)
            .hint(format!("make a private key and a webhook secret at {}, settings", created.html_url))
    })?;
    let install = format!("{}/installations/new", created.html_url);
    if out.is_json() {
        return out.json_line(&json!({
            "app_id": created.id,
            "slug": created.slug,
            "private_key_file": files.key,
            "variables_file": files.variables,
            "has_webhook_secret": created.webhook_secret.is_some(),
            "install": install,
        }));
    }
    out.say(&words::github::created(&created.slug, &files.key, &files.variables, &install));
    if created.webhook_secret.is_none() {
        out.note("GitHub gave no webhook secret: set one in the App's settings and as GITHUB_WEBHOOK_SECRET");
    }
    Ok(())
}

impl Files {
    /// Before anything is made at GitHub.
    fn are_free(&self) -> Result<(), UserError> {
        let taken = [&self.key, &self.variables].into_iter().find(|file| fs::symlink_metadata(file).is_ok());
        match taken {
            None => Ok(()),
            Some(file) => {
                let message = format!("{} is there already, and is not written over", file.display());
                Err(UserError::new(Kind::Protected, message)
                    .hint("move it away if its App is no longer used; otherwise there is nothing to create"))
            }
        }
    }

    fn write(&self, created: &Created, github: &GitHubSettings) -> io::Result<()> {
        let mut lines = vec![
            ("GITHUB_APP_ID", created.id.to_string()),
            ("GITHUB_PRIVATE_KEY_FILE", self.key.to_string_lossy().into_owned()),
        ];
        if let Some(secret) = &created.webhook_secret {
            lines.push(("GITHUB_WEBHOOK_SECRET", secret.reveal().to_owned()));
        }
        if github.api_url != "https://api.github.com" {
            lines.push(("GITHUB_API_URL", github.api_url.clone()));
            lines.push(("GITHUB_URL", github.web_url.clone()));
        }
        let lines: Vec<String> = lines.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
        keep(&self.key, created.private_key.reveal())?;
        keep(&self.variables, &format!("{}\n", lines.join("\n")))
    }
}

/// A new file that only its owner can read, whole from its first moment. One that is there stays.
fn keep(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut staged = tempfile::NamedTempFile::new_in(folder)?;
    staged.write_all(text.as_bytes())?;
    staged.as_file().sync_all()?;
    staged.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(())
}
