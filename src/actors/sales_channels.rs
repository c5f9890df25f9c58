//! Sales channels call for no outside work; their commits are announced to orders that wait for their map.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;

use crate::actors::kernel::effects::Effects;
use crate::actors::kernel::handle::Handle;
use crate::domain::aggregate::Versioned;
use crate::domain::sales_channel::SalesChannel;

/// Announces each commit of a sales channel.
pub struct SalesChannelEffects {
    /// Changes with each commit.
    pub changes: watch::Sender<u64>,
}

#[async_trait]
impl Effects<SalesChannel> for SalesChannelEffects {
    async fn run(&self, (): (), _: Handle<SalesChannel>) {}

    fn committed(&self, _: &Handle<SalesChannel>, _: &Arc<Versioned<SalesChannel>>) {
        self.changes.send_modify(|count| *count += 1);
    }
}
