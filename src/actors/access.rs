//! Effects of access (staff, API keys, sessions). They do no external work; they only announce each commit to open
//! event streams.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;

use domain::access::Access;
use domain::aggregate::Versioned;
use kernel::effects::Effects;
use kernel::handle::Handle;

/// Effects of access, which announce each commit to event streams.
pub struct AccessEffects {
    /// Version of the last commit. Event streams watch it, and check their reader's permissions again when it changes.
    pub changes: watch::Sender<u64>,
}

#[async_trait]
impl Effects<Access> for AccessEffects {
    async fn run(&self, (): (), _: Handle<Access>) {}

    fn committed(&self, _: &Handle<Access>, state: &Arc<Versioned<Access>>) {
        self.changes.send_replace(state.version.unsigned_abs());
    }
}
