//! `hedgerow env show`.

use hedgerow_engine::Outcome;
use hedgerow_engine::engine::Detail;
use hedgerow_engine::view::View;
use serde::Serialize;

use super::super::context::Context;
use crate::output::{Cell, RED, Table};
use crate::words;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Its work (`issue-42`), branch, path, or the beginning of its id; without one, the environment you are in
    name: Option<String>,
    /// Also whether it is merged, whether it conflicts with its base, and its size on disk; slower
    #[arg(long)]
    full: bool,
    /// Also what it changed since its base, as a patch; of one in the trash or in the vault as well
    #[arg(long)]
    diff: bool,
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<()> {
    let codebase = context.codebase().await?;
    let environment = match arguments.name.as_deref() {
        Some(name) => context.engine.require_environment_ever(&codebase, name).await?,
        None => context.environment(&codebase, None).await?,
    };
    let detail = match environment.state.is_live() {
        true if arguments.full => Detail::Full,
        true => Detail::Status,
        false => Detail::Row,
    };
    let view = context.engine.view(&environment, detail).await?;
    let patch = if arguments.diff { Some(context.engine.diff(&environment, false).await?) } else { None };
    if context.out.is_json() {
        let patch = patch.map(|patch| String::from_utf8_lossy(&patch).into_owned());
        return context.out.json(&ShownView { environment: view, patch });
    }
    let mut table = Table::default();
    place(&mut table, &view);
    condition(&mut table, &view);
    if let Some(error) = &environment.last_error {
        table.field("Last error", Cell::new(error, RED));
    }
    if let Some(trash) = &environment.trash {
        table.field("In the trash", format!("{}, {}", words::moment(trash.at, context.now), trash.path.display()));
    }
    story(&mut table, &view, context);
    context.out.table(&table);
    if !environment.state.is_live() {
        context.out.say(&format!("Bring it back: {}", words::restore_command(environment.name(), context.chosen)));
    }
    if let Some(patch) = patch {
        context.out.patch(&patch);
    }
    Ok(())
}

/// An environment as scripts see it, with what it changed when that was asked for.
#[derive(Debug, Serialize)]
struct ShownView {
    #[serde(flatten)]
    environment: View,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
}

fn place(table: &mut Table, view: &View) {
    table.field("Name", words::name(view));
    if view.works.len() > 1 {
        table.field("Works", view.works.join(", "));
    }
    table.field("Codebase", &view.codebase);
    table.field("Branch", view.branch.as_str());
    if let Some(base) = &view.base {
        let sha = view.base_sha.as_ref().map(|sha| format!(" at {}", sha.short())).unwrap_or_default();
        table.field("Base", format!("{base}{sha}"));
    }
    table.field("Path", view.path.to_string_lossy());
}

fn condition(table: &mut Table, view: &View) {
    let adopted = view.adopted_from.map(|from| format!("adopted by {from}"));
    let marks: Vec<String> = adopted.into_iter().chain(view.pinned.then(|| "kept".to_owned())).collect();
    let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
    table.field("State", format!("{}{marks}", view.state));
    if let Some(condition) = &view.condition {
        table.field("Changes", words::changes(condition));
    }
    let distance = words::distance_in_words(view.ahead, view.behind);
    if !distance.is_empty() {
        table.field("Commits", distance);
    }
    if let Some(verdict) = &view.verdict {
        let base = view.base.as_ref().map_or("the base", |base| base.as_str());
        table.field("Merged", verdict.sentence(base));
    }
    if let Some(conflicts) = view.conflicts {
        table.field("Conflicts", if conflicts { "yes, with its base" } else { "none" });
    }
    if let Some(bytes) = view.disk_bytes {
        table.field("Size", words::bytes(bytes));
    }
}

fn story(table: &mut Table, view: &View, context: &Context<'_>) {
    if let Some([first, last]) = view.ports {
        table.field("Ports", format!("{first}–{last}"));
    }
    if let Some(state) = view.init.state {
        let error = view.init.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        table.field("Init script", format!("{state}{error}"));
    }
    if let Some(pr) = &view.pr {
        let stands = words::pull_request(pr);
        let parts = [Some(stands.as_str()), pr.title.as_deref(), pr.url.as_deref()];
        table.field("Pull request", parts.into_iter().flatten().collect::<Vec<_>>().join(" "));
    }
    if let Some(description) = &view.description {
        table.field("Description", description);
    }
    if !view.conversations.is_empty() {
        table.field("Used by", view.conversations.join(", "));
    }
    table.field("Created", format!("{} by {}", words::moment(view.created_at, context.now), view.created_by));
    table.field("Last active", words::moment(view.last_activity_at, context.now));
    table.field("Machine", &view.node);
    table.field("Id", view.id.to_string());
}
