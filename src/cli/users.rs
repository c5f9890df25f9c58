//! `printfloor user`: accounts of staff members.

use super::office::{Office, UserLine};
use super::table::table;
use super::{CliError, Global, NewUser, password};
use crate::observe::log;

/// Creates an account.
pub async fn create(global: &Global, new: &NewUser) -> Result<(), CliError> {
    log::start_for_command();
    let password = password::ask().await?;
    let office = Office::open(global).await?;
    let made = office.create_user(new, password).await;
    office.close().await;
    let made = made?;
    println!("created the {} account {} ({})", made.role.word(), made.email, made.id);
    Ok(())
}

/// Lists accounts.
pub async fn list(global: &Global) -> Result<(), CliError> {
    log::start_for_command();
    let office = Office::open(global).await?;
    let users = office.users().await;
    office.close().await;
    let users = users?;
    if users.is_empty() {
        eprintln!(
            "there are no accounts yet; create one with: printfloor user create --email you@example.com --role admin"
        );
    }
    let rows: Vec<_> = users.iter().map(row).collect();
    print!("{}", table(&["id", "email", "name", "role", "created"], &rows));
    Ok(())
}

fn row(user: &UserLine) -> Vec<String> {
    let word = user.role.word().to_owned();
    vec![user.id.to_string(), user.email.clone(), user.name.clone(), word, user.created_at.to_string()]
}
