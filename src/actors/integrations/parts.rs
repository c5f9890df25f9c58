//! Integration with the parts management system, which synchronises stock.

use std::sync::Arc;

use super::IntegrationType;
use super::stock_sync::StockSyncWork;
use domain::parts_sync::StockSystem;
use services::peers;

/// Declaration of the parts management integration.
pub(super) static TYPE: IntegrationType = IntegrationType {
    name: "parts",
    title: "Parts management",
    is_on: |config| !config.parts.url.is_empty(),
    test: |client, config| Box::pin(peers::parts(client, &config.parts.url, config.parts.token.expose())),
    prepare: |config, http| {
        let sync = StockSyncWork::prepare(StockSystem::Parts, &config.parts, config, http)?;
        Ok(Box::new(move |sources| Arc::new(sync(sources))))
    },
};
