//! Background work for integrations that only respond to requests: periodically checks that the system is available.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::Client;
use tokio::time::sleep;

use super::{IntegrationType, IntegrationWork, SystemLine};
use config::Config;

/// Background work that periodically tests whether a system is available.
pub(super) struct Heartbeat {
    declared: &'static IntegrationType,
    config: Config,
    client: Client,
    every: Duration,
}

impl Heartbeat {
    /// Creates the heartbeat for an integration with the given settings.
    pub(super) fn new(declared: &'static IntegrationType, config: &Config, client: Client) -> Self {
        let every = config.integrations.check_interval_seconds.duration();
        Self { declared, config: config.clone(), client, every }
    }
}

#[async_trait]
impl IntegrationWork for Heartbeat {
    async fn run(&self, line: &SystemLine) {
        loop {
            line.ready().await;
            if line.call((self.declared.test)(&self.client, &self.config)).await.is_ok() {
                sleep(self.every).await;
            }
        }
    }
}
