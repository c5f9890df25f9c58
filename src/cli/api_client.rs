//! Accounts and API keys for the command line: through the control socket of the running server or, if no server is
//! running, directly in the database under the same rules. The results and errors are the same either way.
//!
//! No command creates a new shop by accident: if no server is running and no database contains a shop, the command
//! fails and lists the locations that it searched.

use std::time::Duration;

use api_requests::parsed;
use serde::Deserialize;
use serde_json::json;

use super::api::ControlApi;
use super::{CliError, GlobalOptions, NewKey, NewUserArguments, settings};
use crate::actors::kernel::directory::ASK_TIMEOUT;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::app::{ShopStartError as ShopError, own_secrets};
use crate::config::Config;
use crate::domain::access::{Access, AddKey, ApiKey, RevokeKey, StaffCommand, User, UserEdit};
use crate::domain::aggregate::Command;
use crate::domain::id::Id;
use crate::domain::password::{own_password_fault, password_fault};
use crate::domain::principal::{Principal, Role};
use crate::domain::time::Timestamp;
use crate::secrets::credentials::{api_key_hash, hash_password, last4, new_api_key};
use crate::server::{Server, StartError, absolute};
use crate::store::connect;
use crate::store::rows::LoadError;
use crate::store::secret_checks::DatabaseState;

/// Maximum time to wait for the database to close after a command.
const CLOSE_WITHIN: Duration = Duration::from_secs(10);

/// Entry in the list of API keys.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyLine {
    pub id: Id,
    pub name: String,
    pub role: Role,
    pub prefix: String,
    pub last4: String,
    pub customer_email: Option<String>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
}

/// Newly created API key.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct CreatedKey {
    /// ID of the key.
    pub id: Id,
    /// The API key in plain text. It is never stored.
    pub key: String,
}

/// Entry in the list of accounts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserLine {
    pub id: Id,
    pub email: String,
    pub name: String,
    pub role: Role,
    pub created_at: Timestamp,
}

/// Client for managing staff accounts and API keys.
pub enum ApiClient {
    /// Access through the running server's API.
    Running(ControlApi),
    /// Access through the database, opened by this process because no server is running.
    Alone(Box<Server>),
}

/// Condition that the shop must meet before a command can run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShopRequirement {
    /// An existing shop.
    Existing,
    /// An existing shop or, if the value is `true` (`--new`), a new shop.
    NewIfAllowed(bool),
}

impl ShopRequirement {
    /// Returns the requirement for a command that can create a shop; `new` is its `--new` flag.
    pub fn of(new: bool) -> Self {
        Self::NewIfAllowed(new)
    }
}

impl ApiClient {
    /// Connects to the running server or, if no server is running, opens the database.
    pub async fn open(global: &GlobalOptions, shop: ShopRequirement) -> Result<Self, CliError> {
        // The running server has loaded its settings; if --data names its directory, none need be loaded here.
        if let Some(data) = &global.data
            && let Some(api) = ControlApi::open(data).await?
        {
            return Ok(Self::Running(api));
        }
        let config = settings::load(global, None)?.config;
        let data = config.server.data_dir.clone();
        if let Some(api) = ControlApi::open(&data).await? {
            return Ok(Self::Running(api));
        }
        if shop != ShopRequirement::NewIfAllowed(true) && !shop_exists(&config).await? {
            return Err(CliError::NoShop { words: no_shop(&config), new: shop != ShopRequirement::Existing });
        }
        Ok(Self::Alone(Box::new(Box::pin(Server::start_local(config)).await?)))
    }

    /// Closes the database, if this process opened it.
    pub async fn close(self) {
        if let Self::Alone(server) = self {
            server.stop(CLOSE_WITHIN).await;
        }
    }

    /// Creates an API key and returns it; the plaintext cannot be retrieved again.
    pub async fn create_key(&self, new: &NewKey) -> Result<CreatedKey, CliError> {
        let role = Role::from(new.role);
        match self {
            Self::Running(api) => {
                let mut body = json!({"name": new.name, "role": role});
                if let Some(at) = new.expires_at {
                    body["expiresAt"] = json!(at);
                }
                if let Some(email) = &new.customer_email {
                    body["customerEmail"] = json!(email);
                }
                Ok(parsed(api.post("/api/auth/api-keys", &body).await?)?)
            }
            Self::Alone(server) => {
                let config = server.config();
                let prefix = config.mode.key_prefix();
                let key = new_api_key(prefix);
                let command = AddKey {
                    name: new.name.clone(),
                    hash: api_key_hash(config.auth.api_key_salt.expose(), &key),
                    prefix: prefix.to_owned(),
                    last4: last4(&key),
                    role,
                    customer_email: new.customer_email.clone(),
                    expires_at: new.expires_at,
                };
                Ok(CreatedKey { id: ask(server, command).await?.key.id, key })
            }
        }
    }

    /// Returns all keys, newest first.
    pub async fn keys(&self) -> Result<Vec<KeyLine>, CliError> {
        match self {
            Self::Running(api) => Ok(api.list("/api/auth/api-keys", "apiKeys").await?),
            Self::Alone(server) => {
                let access = access(server).await?;
                let mut keys: Vec<KeyLine> = access.keys.values().map(|key| KeyLine::from(&**key)).collect();
                keys.sort_by_key(|key| std::cmp::Reverse((key.created_at, key.id)));
                Ok(keys)
            }
        }
    }

    /// Revokes an API key with immediate effect.
    pub async fn revoke_key(&self, id: Id) -> Result<(), CliError> {
        match self {
            Self::Running(api) => Ok(api.delete(&format!("/api/auth/api-keys/{id}")).await?),
            Self::Alone(server) => ask(server, RevokeKey(id)).await.map(drop),
        }
    }

    /// Creates an account for a staff member, who can sign in immediately.
    pub async fn create_user(&self, new: &NewUserArguments, password: String) -> Result<UserLine, CliError> {
        let name = match &new.name {
            Some(name) => name.clone(),
            None => new.email.split('@').next().unwrap_or_default().trim().to_owned(),
        };
        let role = Role::from(new.role);
        match self {
            Self::Running(api) => {
                let body = json!({"email": new.email, "name": name, "role": role, "password": password});
                Ok(parsed(api.post("/api/users", &body).await?)?)
            }
            Self::Alone(server) => {
                let password_hash = hash(password, &new.email).await?;
                let command = StaffCommand::Add { email: new.email.clone(), name, password_hash, role };
                Ok(UserLine::from(&*ask(server, command).await?.user))
            }
        }
    }

    /// Sets a new password for an account and ends its sessions.
    pub async fn set_password(&self, user: &UserLine, password: String) -> Result<(), CliError> {
        match self {
            Self::Running(api) => {
                api.patch(&format!("/api/users/{}", user.id), &json!({"password": password})).await?;
            }
            Self::Alone(server) => {
                let password_hash = Some(hash(password, &user.email).await?);
                let change = UserEdit { password_hash, ..UserEdit::default() };
                let (id, if_version, checked_hash, keep) = (user.id, None, None, None);
                ask(server, StaffCommand::Update { id, if_version, checked_hash, change, keep }).await?;
            }
        }
        Ok(())
    }

    /// Returns all accounts, newest first.
    pub async fn users(&self) -> Result<Vec<UserLine>, CliError> {
        match self {
            Self::Running(api) => Ok(api.list("/api/users", "users").await?),
            Self::Alone(server) => {
                let access = access(server).await?;
                let present = access.users.values().filter(|user| !user.archived);
                let mut users: Vec<UserLine> = present.map(|user| UserLine::from(&**user)).collect();
                users.sort_by_key(|user| std::cmp::Reverse((user.created_at, user.id)));
                Ok(users)
            }
        }
    }
}

/// Returns whether the configured database contains a shop.
pub async fn shop_exists(config: &Config) -> Result<bool, CliError> {
    let database = connect::display_url(config.database_url().expose());
    let state = own_secrets::look(config).await;
    let state = state.map_err(|source| CliError::from(StartError::Database { database, source }))?;
    Ok(state != DatabaseState::New)
}

/// Describes the locations searched for a shop, and what was found in each.
pub fn no_shop(config: &Config) -> String {
    let data = absolute(&config.server.data_dir);
    let there = match std::fs::read_dir(&data).map(Iterator::count) {
        Err(_) => "it does not exist",
        Ok(0) => "it is empty",
        Ok(_) => "it contains no shop",
    };
    if config.database.url.is_empty() {
        return format!("no server is running on {} and {there}", data.display());
    }
    let database = connect::display_url(config.database_url().expose());
    format!("no server is running on {} and {database} contains no shop", data.display())
}

async fn hash(password: String, email: &str) -> Result<String, CliError> {
    if let Some(fault) = password_fault(&password).or_else(|| own_password_fault(&password, email)) {
        return Err(CliError::Failed(format!("password: {fault}")));
    }
    let hashed = tokio::task::spawn_blocking(move || hash_password(&password)).await;
    hashed.map_err(|error| CliError::Failed(error.to_string()))
}

impl From<&ApiKey> for KeyLine {
    fn from(key: &ApiKey) -> Self {
        Self {
            id: key.id,
            name: key.name.clone(),
            role: key.role,
            prefix: key.prefix.clone(),
            last4: key.last4.clone(),
            customer_email: key.customer_email.clone(),
            created_at: key.created_at,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
            last_used_at: key.last_used_at,
        }
    }
}

impl From<&User> for UserLine {
    fn from(user: &User) -> Self {
        Self {
            id: user.id,
            email: user.email.clone(),
            name: user.name.clone(),
            role: user.role,
            created_at: user.created_at,
        }
    }
}

/// Executes a command with the machine owner's permissions, as if it came through the control socket.
async fn ask<C: Command<Access>>(server: &Server, command: C) -> Result<C::Answer, CliError> {
    let access = server.shop().access.activate(Id::ONLY);
    Ok(access.ask(CommandOrigin::new(Principal::Machine), command, ASK_TIMEOUT).await?.answer)
}

/// Returns the current accounts and keys; empty if none exist yet.
pub async fn access(server: &Server) -> Result<Access, CliError> {
    let unreadable = |error: LoadError| CliError::from(StartError::App(ShopError::from(error)));
    let read = server.shop().access.read(Id::ONLY).await.map_err(unreadable)?;
    Ok(read.and_then(|stored| stored.state.clone()).unwrap_or_default())
}
