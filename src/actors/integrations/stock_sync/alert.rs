//! Notifies operators once when a system needs their attention, and again only if the system has worked in the
//! meantime. The notification is recorded, so it is not sent again after a restart.

use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

use crate::integrations::{self, SystemLine};
use domain::id::Id;
use domain::integration::{Integration, IntegrationCommand};
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::handle::AskError;

/// Alert for an external system.
pub(super) struct AttentionAlert {
    integrations: Directory<Integration>,
    /// `true` if the system needed attention when the alert was last recorded; `None` until this process has recorded
    /// it.
    last_written: Mutex<Option<bool>>,
}

impl AttentionAlert {
    pub(super) fn new(integrations: Directory<Integration>) -> Self {
        Self { integrations, last_written: Mutex::default() }
    }

    /// Records why the system needs operator attention (`None` if it does not), and notifies operators. If recording
    /// fails, it is retried after the next round.
    pub(super) async fn tell(&self, line: &SystemLine, why: Option<&str>) {
        let needs_person = Some(why.is_some());
        if *self.last_written.lock().unwrap_or_else(PoisonError::into_inner) == needs_person {
            return;
        }
        match self.write(line, why).await {
            Ok(()) => *self.last_written.lock().unwrap_or_else(PoisonError::into_inner) = needs_person,
            Err(error) => {
                tracing::debug!(integration = line.name, %error, "cannot record whether the integration needs \
                     attention");
            }
        }
    }

    async fn write(&self, line: &SystemLine, why: Option<&str>) -> Result<(), AskError> {
        let id = Id(Uuid::new_v5(&Uuid::NAMESPACE_OID, line.name.as_bytes()));
        let command = match why {
            Some(why) => IntegrationCommand::NeedsPerson {
                name: line.name.to_owned(),
                title: integrations::of(line.name).map_or(line.name, |one| one.title).to_owned(),
                why: why.to_owned(),
            },
            None => IntegrationCommand::Well,
        };
        match self.integrations.ask(id, CommandOrigin::system(), command.clone()).await {
            // Nothing is kept of it yet.
            Err(AskError::Refused(_)) if why.is_some() => {
                self.integrations.create_as(id, CommandOrigin::system(), command).await.map(drop)
            }
            Ok(_) | Err(AskError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
