//! Slicing for an order's jobs.

use super::{OrderEffects, tell};
use crate::slicing::{SlicingFailure, SlicingPurpose};
use domain::id::Id;
use domain::order::{JobSlicingOutcome, Order, OrderNews, ProductionData};
use domain::slice_source::SliceSource;
use kernel::effects::report;
use kernel::handle::Handle;

impl OrderEffects {
    /// Sends the order the G-code that its jobs for a SKU need. If slicing cannot proceed yet, it is retried at
    /// intervals.
    pub(super) async fn slice(&self, of: &Handle<Order>, sku: Id, source: SliceSource) {
        let news = |news| OrderNews::Slicing { sku, source: source.clone(), news };
        loop {
            let outcome = match self.sliced(sku, &source).await {
                Ok(make) => JobSlicingOutcome::Done(Box::new(make)),
                Err(SlicingFailure::Failed(words)) => JobSlicingOutcome::Failed(words),
                Err(SlicingFailure::Waits(words) | SlicingFailure::NotNow(words)) => {
                    tell(of, news(JobSlicingOutcome::Waits(words))).await;
                    tokio::time::sleep(self.slicing_recheck).await;
                    continue;
                }
                Err(SlicingFailure::Trouble(error)) => {
                    return tracing::warn!(order = %of.id(), %sku, error, "slicing a model failed; retrying");
                }
            };
            if let Err(error) = report(of, news(outcome)).await {
                tracing::debug!(order = %of.id(), %sku, %error, "recording a slicing result failed; retrying");
            }
            return;
        }
    }

    /// Returns the production data for the SKU's jobs: from the sliced model or, if the SKU has received G-code in the
    /// meantime, from that G-code.
    async fn sliced(&self, sku: Id, source: &SliceSource) -> Result<ProductionData, SlicingFailure> {
        let state = self.sources.skus.read(sku).await?;
        let Some(sku) = state.as_ref().and_then(|state| state.state.as_ref()) else {
            return Err(SlicingFailure::Failed("the SKU was deleted".to_owned()));
        };
        let make = if sku.fields.gcode_file_id.is_some() {
            self.sources.make(sku).await?
        } else {
            let file = self.slicing.gcode(&self.sources.files, source, &SlicingPurpose::Order).await?;
            self.sources.sliced(sku, file).await?
        };
        make.ok_or_else(|| SlicingFailure::Failed("the SKU has become a kit".to_owned()))
    }
}
