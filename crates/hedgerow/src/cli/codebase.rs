//! `hedgerow codebase`: the repositories Hedgerow serves.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Subcommand;
use hedgerow_engine::Outcome;
use hedgerow_engine::engine::{Detail, Source};
use hedgerow_engine::view::{CodebaseView as View, RemovedView};

use super::context::Context;
use crate::output::{BOLD, Cell, Meter, Table};
use crate::words;

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Register a repository on this machine, or clone one from a URL
    #[command(after_help = "\
Examples:
  hedgerow codebase add                                   the repository you are in
  hedgerow codebase add ~/src/shop --name shop
  hedgerow codebase add https://example.com/acme/shop.git")]
    Add {
        /// A folder inside the repository, or where to clone it from
        #[arg(value_name = "PATH|URL", default_value = ".")]
        source: OsString,
        /// What to call it; otherwise the name of its remote or folder
        #[arg(long, value_parser = super::parse::text)]
        name: Option<String>,
    },
    /// All registered codebases
    List,
    /// One codebase; without a name, that of the current folder
    Show {
        /// What it is called
        name: Option<String>,
    },
    /// Forget a codebase: its clean environments go to the trash, the repository stays
    Remove {
        /// What it is called
        name: String,
    },
    /// Accept the repository's present configuration, after it changed in a way that could run programs
    Trust {
        /// What it is called
        name: String,
    },
}

pub(super) async fn run(verb: &Verb, context: &Context<'_>) -> Outcome<ExitCode> {
    match verb {
        Verb::Add { source, name } => add(context, source, name.as_deref()).await?,
        Verb::List => list(context).await?,
        Verb::Show { name } => show(context, name.as_deref()).await?,
        Verb::Remove { name } => remove(context, name).await?,
        Verb::Trust { name } => trust(context, name).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn add(context: &Context<'_>, source: &OsString, name: Option<&str>) -> Outcome<()> {
    let source = source_of(context, source)?;
    let meter = Meter::new(false);
    let registered = context.engine.add_codebase(&source, name, &context.by, &meter).await;
    drop(meter);
    let registered = registered?;
    context.tell(&registered.notes);
    let codebase = &registered.codebase;
    if context.out.is_json() {
        return context.out.json(&View { is_new: Some(registered.is_new), ..View::new(codebase) });
    }
    let word = if registered.is_new { "Registered" } else { "Already registered:" };
    context.out.say(&format!("{word} codebase `{}`", codebase.name));
    context.out.value(codebase.path.as_os_str());
    Ok(())
}

/// What is on this disk is a path, whatever it looks like; otherwise what looks like a URL is one.
fn source_of(context: &Context<'_>, given: &OsString) -> Outcome<Source> {
    let path = context.absolute(Path::new(given))?;
    match given.to_str() {
        Some(text) if Source::is_url(text) && !path.exists() => Ok(Source::Url(text.to_owned())),
        _ => Ok(Source::Path(path)),
    }
}

async fn list(context: &Context<'_>) -> Outcome<()> {
    let codebases = context.engine.codebases().await?;
    if context.out.is_json() {
        return context.out.json(&codebases.iter().map(View::new).collect::<Vec<_>>());
    }
    if codebases.is_empty() {
        context.out.note("no codebases yet; `hedgerow codebase add` in a repository registers it");
        return Ok(());
    }
    let mut table = Table::new(&["NAME", "PATH", "REMOTE"]);
    for codebase in &codebases {
        let path = codebase.path.to_string_lossy();
        let remote = codebase.remote.as_deref().unwrap_or_default();
        table.row(vec![Cell::new(&codebase.name, BOLD), path.into(), remote.into()]);
    }
    context.out.table(&table);
    Ok(())
}

async fn show(context: &Context<'_>, name: Option<&str>) -> Outcome<()> {
    let codebase = match name {
        Some(name) => context.engine.require_codebase(name).await?,
        None => context.codebase().await?,
    };
    let environments = context.engine.list(Some(&codebase), Detail::Row).await?.len();
    if context.out.is_json() {
        return context.out.json(&View { environments: Some(environments), ..View::new(&codebase) });
    }
    let mut table = Table::default();
    table.field("Name", &codebase.name);
    table.field("Path", codebase.path.to_string_lossy());
    table.field("Remote", codebase.remote.as_deref().unwrap_or("none"));
    if let Some(remote) = &codebase.remote_name {
        table.field("Remote name", remote);
    }
    if let Some(base) = &codebase.base_branch {
        table.field("Base branch", base.as_str());
    }
    table.field("Environments", environments.to_string());
    table.field("Registered", words::moment(codebase.created_at, context.now));
    table.field("Id", codebase.id.to_string());
    context.out.table(&table);
    Ok(())
}

async fn remove(context: &Context<'_>, name: &str) -> Outcome<()> {
    let codebase = context.engine.require_codebase(name).await?;
    let removed = context.engine.remove_codebase(&codebase, &context.by).await?;
    let undo = format!("hedgerow codebase add {}", words::quoted(&codebase.path.to_string_lossy()));
    if context.out.is_json() {
        let environments: Vec<_> = removed
            .iter()
            .map(|removed| RemovedView::new(removed, &codebase.name, words::undo(removed, None)))
            .collect();
        return context.out.json(&serde_json::json!({
            "codebase": codebase.name, "environments": environments, "undo": undo,
        }));
    }
    for removed in &removed {
        context.out.say(&words::removed(removed));
    }
    context.out.say(&format!("Forgot codebase `{}`; its repository stays as it is", codebase.name));
    context.out.say(&format!("Undo: {undo}"));
    Ok(())
}

async fn trust(context: &Context<'_>, name: &str) -> Outcome<()> {
    let codebase = context.engine.require_codebase(name).await?;
    let programs = context.engine.trust_codebase(&codebase, &context.by).await?;
    if context.out.is_json() {
        return context.out.json(&serde_json::json!({"codebase": codebase.name, "can_run": programs}));
    }
    context.out.say(&format!("Accepted the configuration of `{}` as it is now", codebase.name));
    if !programs.is_empty() {
        context.out.say("In it, these can run programs:");
        for program in &programs {
            context.out.say(&format!("  {}", program.replace('\n', " ")));
        }
    }
    Ok(())
}
