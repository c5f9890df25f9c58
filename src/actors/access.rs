//! Effects of the access aggregate (staff, API keys, sessions). They only notify open event streams of each commit.

use std::sync::Arc;

use async_trait::async_trait;

use domain::access::Access;
use domain::aggregate::Versioned;
use kernel::effects::Effects;
use kernel::handle::Handle;
use platform::watch::WatchSender;

/// Effects of the access aggregate, which notify event streams of each commit.
pub struct AccessEffects {
    /// Version of the last commit. Event streams watch it and recheck their reader's permissions when it changes.
    pub changes: WatchSender<u64>,
}

#[async_trait]
impl Effects<Access> for AccessEffects {
    async fn run(&self, (): (), _: Handle<Access>) {}

    fn committed(&self, _: &Handle<Access>, state: &Arc<Versioned<Access>>) {
        self.changes.send_replace(state.version.unsigned_abs());
    }
}
