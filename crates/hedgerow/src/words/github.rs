//! What a terminal says about setting up GitHub.

use std::fmt::Write as _;
use std::path::Path;

use hedgerow_platforms::github::manifest::{EVENTS, PERMISSIONS};

use super::quoted;

/// Everything that GitHub must be told, both ways.
pub(crate) fn setup(
    webhook_url: &str,
    web_url: &str,
    organization: Option<&str>,
    again: &str,
    manifest: &str,
) -> String {
    let mut text =
        format!("Webhook URL: {webhook_url}\nContent type: application/json\n\nPermissions on repositories:\n");
    for needed in PERMISSIONS {
        _ = writeln!(text, "  {:<16} {:<6} {}", needed.title, needed.level, needed.why);
    }
    text.push_str("Nothing else; above all neither Workflows nor Administration.\n\nEvents:\n");
    for event in EVENTS {
        _ = writeln!(text, "  {:<28} {}", event.title, event.why);
    }
    let apps = match organization {
        Some(name) => format!("{web_url}/organizations/{name}/settings/apps/new"),
        None => format!("{web_url}/settings/apps/new"),
    };
    _ = write!(
        text,
        "\nAs a GitHub App (recommended):\n\
         \x20 1. `{again}` makes it in your browser and keeps its key.\n\
         \x20    By hand: {apps}, with what is above and a webhook secret of your own.\n\
         \x20 2. Install it on your repositories.\n\
         \x20 3. Set GITHUB_APP_ID, GITHUB_PRIVATE_KEY_FILE and GITHUB_WEBHOOK_SECRET, and start `hedgerow serve`.\n\
         \n\
         With a personal token (of an account of its own, if you can):\n\
         \x20 1. Make a fine-grained token at {web_url}/settings/personal-access-tokens/new with these permissions.\n\
         \x20 2. In each repository, Settings > Webhooks: add the URL above, application/json, a secret and these events.\n\
         \x20 3. Set GITHUB_TOKEN and GITHUB_WEBHOOK_SECRET, and start `hedgerow serve`.\n\
         \n\
         `hedgerow doctor` checks all of it.\n\
         \n\
         The manifest of the App:\n\
         {manifest}"
    );
    text
}

pub(crate) fn open_page(url: &str) -> String {
    format!("Open this page in your browser, within 10 minutes:\n  {url}")
}

/// What is there now, and what comes next. No secret is said.
pub(crate) fn created(slug: &str, key: &Path, variables: &Path, install: &str) -> String {
    let source = quoted(&variables.to_string_lossy());
    format!(
        "The App `{slug}` is made.\n\
         Its private key is in {}, the settings with the webhook secret in {}; only you can read them.\n\
         \n\
         Next:\n\
         \x20 1. Install it on your repositories: {install}\n\
         \x20 2. Start the server with these settings:\n\
         \x20      set -a; . {source}; set +a; hedgerow serve\n\
         \x20 3. `hedgerow doctor`, with the same settings, checks that all is well.",
        key.display(),
        variables.display(),
    )
}
