//! The user interface for print farms: whether it answers, how many printers it knows, and which, so that they can be taken over.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Client;
use tokio::time::sleep;

use super::{IntegrationType, Line, Work};
use crate::config::sections::Peer;
use crate::services::farm_ui::{self, FarmPrinter};
use crate::services::peers::{self, PeerFault};

/// The user interface for print farms.
pub(super) static TYPE: IntegrationType = IntegrationType {
    name: "farm_ui",
    title: "Print farm interface",
    is_on: |config| !config.farm_ui.url.is_empty(),
    test: |client, config| Box::pin(peers::farm_ui(client, &config.farm_ui.url, config.farm_ui.token.expose())),
    work: |config, sources| {
        let every = config.integrations.check_interval_seconds.duration();
        Ok(Arc::new(Count { peer: config.farm_ui.clone(), client: sources.client.clone(), every }))
    },
};

/// Counts the printers that it knows, again and again.
struct Count {
    peer: Peer,
    client: Client,
    every: Duration,
}

#[async_trait]
impl Work for Count {
    async fn run(&self, line: &Line) {
        loop {
            line.ready().await;
            if let Ok(known) = printers(line, &self.client, &self.peer).await {
                let used = known.iter().filter(|printer| printer.enabled).count();
                line.note(Some(format!("it knows {} printers, {used} of them in use", known.len())));
                sleep(self.every).await;
            }
        }
    }
}

/// The printers that it knows.
pub(super) async fn printers(line: &Line, client: &Client, peer: &Peer) -> Result<Vec<FarmPrinter>, PeerFault> {
    line.call(farm_ui::printers(client, &peer.url, peer.token.expose())).await
}
