//! Effects of sales channels. They do no external work; they only announce each commit to channel orders that need the
//! variant map.

use std::sync::Arc;

use async_trait::async_trait;

use domain::aggregate::Versioned;
use domain::sales_channel::SalesChannel;
use kernel::effects::Effects;
use kernel::handle::Handle;
use platform::watch::WatchSender;

/// Effects of sales channels, which publish each commit.
pub struct SalesChannelEffects {
    /// Counter that increments with each commit.
    pub changes: WatchSender<u64>,
}

#[async_trait]
impl Effects<SalesChannel> for SalesChannelEffects {
    async fn run(&self, (): (), _: Handle<SalesChannel>) {}

    fn committed(&self, _: &Handle<SalesChannel>, _: &Arc<Versioned<SalesChannel>>) {
        self.changes.send_modify(|count| *count += 1);
    }
}
