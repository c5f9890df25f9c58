//! States sent over HTTP. They are lost when the smart home system restarts; a missing state indicates this.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, sleep};

use super::things::{SHOP, StateReader};
use crate::integrations::{IntegrationWork, SystemLine};
use services::peer_fault::PeerFault;
use services::smart_home::{HomeAssistantClient, HomeEntity};

/// Maximum interval between checks that the states still exist.
const LOOK_INTERVAL: Duration = Duration::from_secs(30);

/// Background work that sends states over HTTP.
pub(super) struct HttpPublishing {
    pub(super) board: HomeAssistantClient,
    pub(super) things: StateReader,
    pub(super) every: Duration,
}

impl HttpPublishing {
    /// Updates the entities that have changed, one at a time.
    async fn show(&self, line: &SystemLine, shown_things: &mut BTreeMap<String, HomeEntity>) -> Result<(), PeerFault> {
        let now = self.things.now();
        let gone: Vec<String> = shown_things.keys().filter(|key| !now.contains_key(*key)).cloned().collect();
        for key in gone {
            line.call(self.board.remove(&key)).await?;
            shown_things.remove(&key);
        }
        for (key, thing) in now {
            if shown_things.get(&key) != Some(&thing) {
                line.call(self.board.show(&thing)).await?;
                shown_things.insert(key, thing);
            }
        }
        Ok(())
    }
}

#[async_trait]
impl IntegrationWork for HttpPublishing {
    async fn run(&self, line: &SystemLine) {
        let (mut shown_things, mut looked) = (BTreeMap::new(), Instant::now());
        loop {
            line.ready().await;
            if looked.elapsed() >= LOOK_INTERVAL.min(self.every * 4) {
                match line.call(self.board.shows(SHOP)).await {
                    Ok(true) => looked = Instant::now(),
                    Ok(false) => {
                        tracing::info!("the smart home has lost the states; sending them again");
                        (shown_things, looked) = (BTreeMap::new(), Instant::now());
                    }
                    Err(_) => continue,
                }
            }
            // What could not be shown differs still, and is shown in the next turn.
            let _ = self.show(line, &mut shown_things).await;
            sleep(self.every).await;
        }
    }
}
