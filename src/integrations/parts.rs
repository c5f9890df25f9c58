//! The parts management system: whether it answers.

use std::sync::Arc;

use super::heartbeat::Heartbeat;
use super::IntegrationType;
use crate::services::peers;

/// The parts management system.
pub(super) static TYPE: IntegrationType = IntegrationType {
    name: "parts",
    title: "Parts management",
    is_on: |config| !config.parts.url.is_empty(),
    test: |client, config| Box::pin(peers::parts(client, &config.parts.url, config.parts.token.expose())),
    work: |config, sources| Ok(Arc::new(Heartbeat::new(&TYPE, config, sources.client.clone()))),
};
