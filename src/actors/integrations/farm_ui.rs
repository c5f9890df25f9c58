//! Integration with the print farm software: checks that the software responds, counts its printers and lists them for
//! import.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::sleep;

use super::{IntegrationType, IntegrationWork, SystemLine};
use services::farm_ui::FarmUi;
use services::peers;

/// Declaration of the print farm software integration.
pub(super) static TYPE: IntegrationType = IntegrationType {
    name: "farm_ui",
    title: "Print farm interface",
    is_on: |config| !config.farm_ui.url.is_empty(),
    test: |client, config| Box::pin(peers::farm_ui(client, &config.farm_ui.url, config.farm_ui.token.expose())),
    prepare: |config, http| {
        let farm = FarmUi::new(http.clone(), &config.farm_ui.url, config.farm_ui.token.expose())?;
        let count = PrinterCountWork { farm, every: config.integrations.check_interval_seconds.duration() };
        Ok(Box::new(move |_| Arc::new(count)))
    },
};

/// Background work that periodically counts the printers in the print farm software.
struct PrinterCountWork {
    farm: FarmUi,
    every: Duration,
}

#[async_trait]
impl IntegrationWork for PrinterCountWork {
    async fn run(&self, line: &SystemLine) {
        loop {
            line.ready().await;
            if let Ok(printers) = line.call(self.farm.printers()).await {
                let used = printers.iter().filter(|printer| printer.enabled).count();
                line.note(Some(format!("{} printers, {used} of them in use", printers.len())));
                sleep(self.every).await;
            }
        }
    }
}
