//! `printfloor key`: creates, lists and revokes API keys.

use super::api_client::{ApiClient, KeyLine, ShopRequirement};
use super::table::table;
use super::{CliError, GlobalOptions, NewKey, output};
use crate::domain::id::Id;
use crate::domain::principal::Role;
use crate::observe::log;

/// Creates a key. Prints only the key to standard output, so that scripts can capture it.
pub async fn create(global: &GlobalOptions, new: &NewKey) -> Result<(), CliError> {
    log::start_for_command();
    let client = ApiClient::open(global, ShopRequirement::of(new.new)).await?;
    let created = client.create_key(new).await;
    client.close().await;
    let created = created?;
    output::line(&created.key)?;
    output::note(&format!(
        "created the {} key \"{}\" ({}); store it now, because it cannot be shown again",
        Role::from(new.role).word(),
        new.name,
        created.id
    ));
    Ok(())
}

/// Prints a table of all keys, newest first, without the keys themselves.
pub async fn list(global: &GlobalOptions) -> Result<(), CliError> {
    log::start_for_command();
    let client = ApiClient::open(global, ShopRequirement::Existing).await?;
    let keys = client.keys().await;
    client.close().await;
    let keys = keys?;
    if keys.is_empty() {
        output::note("there are no API keys yet; create one with: printfloor key create --name first --role admin");
    }
    let rows: Vec<_> = keys.iter().map(row).collect();
    output::print(&table(&["id", "name", "role", "key", "created", "last used", "valid"], &rows))
}

/// Revokes a key; requests that use it are rejected immediately.
pub async fn revoke(global: &GlobalOptions, id: Id) -> Result<(), CliError> {
    log::start_for_command();
    let client = ApiClient::open(global, ShopRequirement::Existing).await?;
    let revoked = client.revoke_key(id).await;
    client.close().await;
    revoked?;
    output::line(&format!("revoked the key {id}"))
}

fn row(key: &KeyLine) -> Vec<String> {
    let role = match &key.customer_email {
        Some(email) => format!("{} {email}", key.role.word()),
        None => key.role.word().to_owned(),
    };
    let used = key.last_used_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
    let works = match (key.revoked_at, key.expires_at) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(at)) => format!("until {at}"),
        (None, None) => "yes".to_owned(),
    };
    let masked = format!("{}…{}", key.prefix, key.last4);
    vec![key.id.to_string(), key.name.clone(), role, masked, key.created_at.to_string(), used, works]
}
