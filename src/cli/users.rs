//! `printfloor user`: creates and lists staff accounts, and sets passwords.

use super::api_client::{ApiClient, ShopRequirement, UserLine};
use super::table::table;
use super::{CliError, GlobalOptions, NewUserArguments, output, password};
use crate::observe::log;

/// Creates a staff account and prints its ID.
pub async fn create(global: &GlobalOptions, new: &NewUserArguments) -> Result<(), CliError> {
    log::start_for_command();
    // Nobody types a password twice to hear then that there is no shop.
    let client = ApiClient::open(global, ShopRequirement::of(new.new)).await?;
    let password = match password::ask().await {
        Ok(password) => password,
        Err(error) => {
            client.close().await;
            return Err(error);
        }
    };
    let created = client.create_user(new, password).await;
    client.close().await;
    let created = created?;
    output::line(&format!("created the {} account {} ({})", created.role.word(), created.email, created.id))
}

/// Sets a new password for an account, for example when its owner has forgotten the old one.
pub async fn passwd(global: &GlobalOptions, email: &str) -> Result<(), CliError> {
    log::start_for_command();
    let client = ApiClient::open(global, ShopRequirement::Existing).await?;
    let changed = set_password(&client, email).await;
    client.close().await;
    output::line(&format!("set the password for {}; all sessions of the account have been ended", changed?.email))
}

async fn set_password(client: &ApiClient, email: &str) -> Result<UserLine, CliError> {
    let address = email.trim().to_lowercase();
    let user = client.users().await?.into_iter().find(|user| user.email == address);
    let user = user.ok_or_else(|| {
        CliError::Failed(format!("no account has the email address {email}; `printfloor user list` shows all accounts"))
    })?;
    let password = password::ask().await?;
    client.set_password(&user, password).await?;
    Ok(user)
}

/// Prints a table of all accounts, newest first.
pub async fn list(global: &GlobalOptions) -> Result<(), CliError> {
    log::start_for_command();
    let client = ApiClient::open(global, ShopRequirement::Existing).await?;
    let users = client.users().await;
    client.close().await;
    let users = users?;
    if users.is_empty() {
        output::note(
            "there are no accounts yet; create one with: printfloor user create --email you@example.com --role admin",
        );
    }
    let rows: Vec<_> = users.iter().map(row).collect();
    output::print(&table(&["id", "email", "name", "role", "created"], &rows))
}

fn row(user: &UserLine) -> Vec<String> {
    let word = user.role.word().to_owned();
    vec![user.id.to_string(), user.email.clone(), user.name.clone(), word, user.created_at.to_string()]
}
