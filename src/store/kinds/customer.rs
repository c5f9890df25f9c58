//! Storage for customers, with separate rows for their sessions.

use std::sync::Arc;

use sea_orm::DbErr;

use crate::load::{Load, LoadedAggregate, SnapshotsToLoad};
use crate::rows::{RowSink, StoredRow, WriteError, part_row, snapshot_row};
use domain::customer::{Customer, CustomerRow, CustomerSession};

snapshot_row!(Customer in customers unique email, |this, at_rest| {
    email: this.email.clone(),
    name: this.name.clone(),
    created_at: this.created_at.0,
});
part_row!(CustomerSession in customer_sessions of customer_id unique [hash], |this| {
    hash: this.hash.clone(),
    created_at: this.created_at.0,
});

impl StoredRow for CustomerRow {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        match self {
            Self::Session(session) => to.replace(&**session),
            Self::SessionGone(id) => {
                to.delete::<CustomerSession>(id);
                Ok(())
            }
        }
    }
}

impl Load for Customer {
    async fn hydrate(loading: SnapshotsToLoad<'_, Self>) -> Result<Vec<LoadedAggregate<Self>>, DbErr> {
        let mut sessions = loading.parts::<CustomerSession>().await?;
        // One that cannot be read signs nobody else out.
        Ok(loading.complete(|id, mut customer| {
            customer.sessions = sessions.take_readable(id).into_iter().map(Arc::new).collect();
            customer.sessions.sort_by_key(|session| (session.created_at, session.id));
            Ok(customer)
        }))
    }
}
