//! Times at which API keys and sessions were last used, collected in memory and written in one commit every minute.

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use tokio_util::sync::CancellationToken;

use crate::audit_sampling::{self, AuditHandles};
use crate::handles::handles;
use config::Config;
use domain::access::{Access, AccessCommand};
use domain::id::Id;
use domain::time::Timestamp;
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;

/// Interval between writes.
const WRITE_INTERVAL: Duration = Duration::from_mins(1);

handles! {
    /// Dependencies of the task that writes the collected times.
    pub struct LastUsedHandles {
        access: Directory<Access>,
        last_used: Arc<LastUsed>,
        audit: AuditHandles,
        config: Arc<Config>,
        leaving: CancellationToken,
    }
}

/// Times at which keys and sessions were last used, not written to the database yet.
#[derive(Debug, Default)]
pub struct LastUsed {
    keys: DashMap<Id, Timestamp>,
    sessions: DashMap<Id, Timestamp>,
}

impl LastUsed {
    /// Records the use of an API key.
    pub fn key(&self, id: Id, at: Timestamp) {
        self.keys.insert(id, at);
    }
    /// Records the use of a session.
    pub fn session(&self, id: Id, at: Timestamp) {
        self.sessions.insert(id, at);
    }
    /// Returns the time at which an API key was last used; `None` if it has already been written.
    pub fn key_seen(&self, id: Id) -> Option<Timestamp> {
        self.keys.get(&id).map(|at| *at)
    }
    /// Returns the time at which a session was last used; `None` if it has already been written.
    pub fn session_seen(&self, id: Id) -> Option<Timestamp> {
        self.sessions.get(&id).map(|at| *at)
    }

    fn command(&self) -> Option<AccessCommand> {
        let all = |uses: &DashMap<Id, Timestamp>| {
            let mut all: Vec<_> = uses.iter().map(|use_| (*use_.key(), *use_.value())).collect();
            // The map has no order of its own, and the command reaches the store.
            all.sort_unstable();
            all
        };
        let (keys, sessions) = (all(&self.keys), all(&self.sessions));
        (!keys.is_empty() || !sessions.is_empty()).then_some(AccessCommand::Used { keys, sessions })
    }

    /// Removes the written entries, except those used again in the meantime.
    fn forget(&self, written: &AccessCommand) {
        let AccessCommand::Used { keys, sessions } = written else { return };
        for (id, at) in keys {
            self.keys.remove_if(id, |_, now| now == at);
        }
        for (id, at) in sessions {
            self.sessions.remove_if(id, |_, now| now == at);
        }
    }
}

/// Writes the collected times and removes ended sessions every minute; writes a last time at shutdown.
pub async fn keep_writing(app: LastUsedHandles) {
    loop {
        let last = tokio::select! {
            biased; // the end of the server first: then this is the last write
            () = app.leaving.cancelled() => true,
            () = tokio::time::sleep(WRITE_INTERVAL) => false,
        };
        write(&app).await;
        if last {
            return;
        }
        audit_sampling::sweep(&app.audit);
        let auth = &app.config.auth;
        let sweep = AccessCommand::Sweep {
            idle_ms: auth.session_idle_timeout_hours.millis(),
            life_ms: auth.session_max_age_days.millis(),
        };
        if let Err(error) = app.access.ask(Id::ONLY, CommandOrigin::system(), sweep).await {
            tracing::debug!(%error, "cannot sweep ended sessions; retrying later");
        }
    }
}

/// Writes the collected times.
async fn write(app: &LastUsedHandles) {
    let Some(command) = app.last_used.command() else { return };
    match app.access.ask(Id::ONLY, CommandOrigin::system(), command.clone()).await {
        Ok(_) => app.last_used.forget(&command),
        Err(error) => tracing::debug!(%error, "cannot write last uses; retrying later"),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn what_is_used_again_while_it_is_written_is_written_again() {
        let uses = LastUsed::default();
        let [a, b] = [1, 2].map(|n| Id(uuid::Uuid::from_u128(n)));
        uses.key(a, Timestamp(1));
        uses.session(b, Timestamp(1));
        let written = uses.command().unwrap();
        uses.session(b, Timestamp(2));
        uses.forget(&written);
        let AccessCommand::Used { keys, sessions } = uses.command().unwrap() else { unreachable!() };
        assert_eq!((keys, sessions), (Vec::new(), vec![(b, Timestamp(2))]));
    }
}
