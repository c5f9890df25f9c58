//! Integration with the spool manager: synchronises stock, and updates the remaining amounts of spools in printer
//! slots.

use std::sync::Arc;

use super::IntegrationType;
use super::stock_sync::StockSyncWork;
use domain::parts_sync::StockSystem;
use services::parts::test_spools;
use services::peer_fault::PeerFault;

/// Declaration of the spool manager integration.
pub(super) static TYPE: IntegrationType = IntegrationType {
    name: "spools",
    title: "Spools",
    is_on: |config| !config.spools.url.is_empty(),
    test: |client, config| {
        Box::pin(async move {
            let outcome = test_spools(client, &config.spools.url, config.spools.token.expose()).await;
            outcome.map_err(|error| PeerFault::new(error.to_string()))
        })
    },
    prepare: |config, http| {
        let sync = StockSyncWork::prepare(StockSystem::Spools, &config.spools, config, http)?;
        Ok(Box::new(move |sources| Arc::new(sync(sources))))
    },
};
