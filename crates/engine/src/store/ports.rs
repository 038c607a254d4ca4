//! Blocks of ports. The store gives them out, because only it sees every environment of a machine.

use std::collections::HashSet;

use hedgerow_core::environment::PORTS_PER_ENVIRONMENT;
use sqlx::AnyConnection;

use super::environments::live;
use super::error::StoreError;
use super::row::Row;

const FIRST: u16 = 4800;
/// Blocks end below this; above it are the system's own short-lived ports.
const END: u16 = 60_000;

/// Holds the machine still until the transaction ends, so that codebases do not choose one block at once. Comes
/// after the codebase's lock, always.
pub(super) async fn lock(connection: &mut AnyConnection, node: &str) -> Result<(), StoreError> {
    sqlx::query("INSERT INTO nodes (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET touched = nodes.touched + 1")
        .bind(node.to_owned())
        .execute(connection)
        .await?;
    Ok(())
}

/// The block an environment gets: the one it had if that is still free, else the lowest free one, if any.
pub(super) async fn choose(
    connection: &mut AnyConnection,
    node: &str,
    had: Option<u16>,
) -> Result<Option<u16>, StoreError> {
    let rows = sqlx::query(concat!("SELECT port FROM environments WHERE node = $1 AND port IS NOT NULL AND ", live!()))
        .bind(node.to_owned())
        .fetch_all(connection)
        .await?;
    let taken = rows.iter().map(|row| Row(row).number("port")).collect::<Result<HashSet<u16>, _>>()?;
    let blocks = (FIRST..END).step_by(usize::from(PORTS_PER_ENVIRONMENT));
    Ok(had.into_iter().chain(blocks).find(|port| !taken.contains(port)))
}
