//! Storage for access, a single aggregate, with separate rows for staff members, API keys and sessions.

use sea_orm::DbErr;
use sea_orm::sea_query::Condition;

use crate::load::{Load, LoadedAggregate, SnapshotsToLoad};
use crate::rows::{RowSink, StoredRow, WriteError, part_row, snapshot_row};
use domain::access::{Access, AccessRow, ApiKey, StaffSession, User};

snapshot_row!(Access in access, |this, at_rest| {});
part_row!(User in users unique [email_key], |this| {
    // An address is free again when its owner is deleted.
    email_key: if this.archived { format!("{} {}", this.email, this.id) } else { this.email.clone() },
    created_at: this.created_at.0,
});
part_row!(ApiKey in api_keys unique [hash], |this| { hash: this.hash.clone(), created_at: this.created_at.0 });
part_row!(StaffSession in staff_sessions unique [hash], |this| {
    hash: this.hash.clone(),
    user_id: this.user_id.to_string(),
    created_at: this.created_at.0,
});

impl StoredRow for AccessRow {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        match self {
            Self::User(user) => to.replace(user),
            Self::ApiKey(key) => to.replace(key),
            Self::Session(session) => to.replace(session),
            Self::SessionGone(id) => {
                to.delete::<StaffSession>(id);
                Ok(())
            }
        }
    }
}

impl Load for Access {
    fn resident() -> Option<Condition> {
        Some(Condition::all())
    }

    async fn hydrate(loading: SnapshotsToLoad<'_, Self>) -> Result<Vec<LoadedAggregate<Self>>, DbErr> {
        let mut users = loading.parts::<User>().await?;
        let mut keys = loading.parts::<ApiKey>().await?;
        let mut sessions = loading.parts::<StaffSession>().await?;
        // One that cannot be read locks nobody else out.
        Ok(loading.complete(|id, access| {
            let (users, keys) = (users.take_readable(id), keys.take_readable(id));
            Ok(access.hydrate(users, keys, sessions.take_readable(id)))
        }))
    }
}
