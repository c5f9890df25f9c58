//! Effects of SKUs. They do no external work; they only announce each commit to orders whose jobs need a file.

use std::sync::Arc;

use async_trait::async_trait;

use domain::aggregate::Versioned;
use domain::sku::Sku;
use kernel::effects::Effects;
use kernel::handle::Handle;
use platform::watch::WatchSender;

/// Effects of SKUs, which publish each commit.
pub struct SkuEffects {
    /// Counter that increments with each commit.
    pub changes: WatchSender<u64>,
}

#[async_trait]
impl Effects<Sku> for SkuEffects {
    async fn run(&self, (): (), _: Handle<Sku>) {}

    fn committed(&self, _: &Handle<Sku>, _: &Arc<Versioned<Sku>>) {
        self.changes.send_modify(|count| *count += 1);
    }
}
