//! Effects of access (staff, API keys, sessions). They do no outside work: each commit is only announced to open event
//! streams.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;

use domain::access::Access;
use domain::aggregate::Versioned;
use kernel::effects::Effects;
use kernel::handle::Handle;

/// Effects of access: announces each commit to event streams.
pub struct AccessEffects {
    /// Version of the last commit. Event streams watch it and re-check their reader's permission when it changes.
    pub changes: watch::Sender<u64>,
}

#[async_trait]
impl Effects<Access> for AccessEffects {
    async fn run(&self, (): (), _: Handle<Access>) {}

    fn committed(&self, _: &Handle<Access>, state: &Arc<Versioned<Access>>) {
        self.changes.send_replace(state.version.unsigned_abs());
    }
}
