//! Access (staff, keys, sessions) calls for no outside work; its commits are announced to open event streams.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;

use crate::actors::kernel::effects::Effects;
use crate::actors::kernel::handle::Handle;
use crate::domain::access::Access;
use crate::domain::aggregate::Versioned;

/// Announces each commit of access.
pub struct AccessEffects {
    /// Carries the version of the last commit. Event streams watch it and check again whether their reader may go on.
    pub changes: watch::Sender<u64>,
}

#[async_trait]
impl Effects<Access> for AccessEffects {
    async fn run(&self, (): (), _: Handle<Access>) {}

    fn committed(&self, _: &Handle<Access>, state: &Arc<Versioned<Access>>) {
        self.changes.send_replace(state.version.unsigned_abs());
    }
}
