//! Integration with the workflow automation system. It sends each event in order, starting from a stored cursor, so
//! that nothing is lost while the system is unavailable.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::{IntegrationType, IntegrationWork, Sources, SystemLine};
use domain::endpoint::envelope::envelope;
use domain::event::{LOW_STOCK, NumberedEvent, OUTBOUND};
use domain::id::Id;
use domain::integration::{Integration, IntegrationCommand};
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use services::peer_fault::PeerFault;
use services::peers;
use services::workflow::{EventOutcome, OutgoingEvent, WorkflowWebhook};
use store::Store;
use store::event_follower::EventFollower;
use store::outbox::Outbox;

/// Number of events read at a time.
const EVENTS_PER_READ: usize = 64;
/// Pause after a failure that did not open the circuit breaker.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// Time after which an event that the workflow keeps rejecting with errors is skipped, so that it does not block all
/// later events.
const MAX_TRIED: Duration = Duration::from_secs(12 * 3600);

/// HTTP status codes caused by the address, the token or the load rather than by the event.
const SAYS_NOTHING_OF_AN_EVENT: [u16; 8] = [401, 403, 404, 405, 407, 408, 410, 429];

/// Declaration of the workflow automation integration.
pub(super) static TYPE: IntegrationType = IntegrationType {
    name: "workflow",
    title: "Workflow automation",
    is_on: |config| !config.workflow.url.is_empty(),
    test: |client, config| {
        let settings = &config.workflow;
        Box::pin(peers::workflow(client, &settings.url, &settings.token_header, settings.token.expose()))
    },
    prepare: |config, http| {
        let settings = &config.workflow;
        let (header, token) = (&settings.token_header, settings.token.expose());
        let webhook = WorkflowWebhook::new(http.clone(), &settings.url, header, token)?;
        let all = OUTBOUND.iter().chain([&LOW_STOCK]).map(|event| (*event).to_owned());
        let event_names =
            if settings.events.is_empty() { all.collect() } else { settings.events.iter().cloned().collect() };
        Ok(Box::new(move |sources| Arc::new(EventForwarding::new(webhook, event_names, sources))))
    },
};

/// Background work that sends events to a workflow's webhook.
struct EventForwarding {
    webhook: WorkflowWebhook,
    /// Names of the events to send.
    event_names: BTreeSet<String>,
    integrations: Directory<Integration>,
    outbox: Arc<Outbox>,
    store: Store,
}

impl EventForwarding {
    fn new(webhook: WorkflowWebhook, event_names: BTreeSet<String>, sources: &Sources) -> Self {
        let (integrations, outbox) = (sources.integrations.clone(), sources.outbox.clone());
        Self { webhook, event_names, integrations, outbox, store: sources.store.clone() }
    }

    /// Returns the stored cursor. The initial cursor is the current position, so that earlier events are not sent.
    async fn begin(&self, id: Id) -> Result<i64, String> {
        let stored = self.integrations.read(id).await.map_err(|error| error.to_string())?;
        if let Some(state) = stored.as_ref().and_then(|stored| stored.state.as_ref()) {
            return Ok(state.cursor);
        }
        let begin = IntegrationCommand::Begin { name: TYPE.name.to_owned(), cursor: *self.outbox.last().borrow() };
        let begun = self.integrations.create_as(id, CommandOrigin::system(), begin).await;
        begun.map(|begun| begun.answer).map_err(|error| error.to_string())
    }

    /// Stores the cursor. If this fails, events after the last stored cursor are sent again after a restart.
    async fn keep(&self, id: Id, upto: i64) {
        let read = IntegrationCommand::Read(upto);
        if let Err(error) = self.integrations.ask(id, CommandOrigin::system(), read).await {
            tracing::debug!(%error, "cannot store the event position; retrying later");
        }
    }

    /// Sends an event, retrying until it is accepted or skipped. Stores the cursor after the first failure.
    async fn tell(&self, line: &SystemLine, id: Id, numbered: &NumberedEvent) {
        let (began, event) = (Instant::now(), &numbered.event);
        let mut is_kept = false;
        loop {
            line.ready().await;
            let outgoing = OutgoingEvent { id: event.id.to_string(), event: &event.event, body: envelope(event) };
            let fault = match line.call(self.webhook.send(outgoing)).await {
                Ok(EventOutcome::Done) => return,
                Ok(EventOutcome::Refused(words)) => {
                    return tracing::warn!(event = event.event, id = %event.id, words, "the workflow automation rejected an event; skipping it");
                }
                Err(fault) => fault,
            };
            if began.elapsed() > MAX_TRIED && answered(&fault) {
                return tracing::warn!(event = event.event, id = %event.id, %fault, "the workflow automation did not accept an event for hours; skipping it");
            }
            if !is_kept {
                is_kept = true;
                self.keep(id, numbered.seq - 1).await;
            }
            sleep(RETRY_PAUSE).await;
        }
    }
}

/// Returns whether the workflow itself responded with an error. No event is skipped while the workflow is unavailable,
/// cannot be found, is overloaded or rejects the token.
fn answered(fault: &PeerFault) -> bool {
    let status = fault.detail.as_deref().and_then(|detail| detail.split(' ').next()?.parse::<u16>().ok());
    status.is_some_and(|status| (400..600).contains(&status) && !SAYS_NOTHING_OF_AN_EVENT.contains(&status))
}

#[async_trait]
impl IntegrationWork for EventForwarding {
    async fn run(&self, line: &SystemLine) {
        let id = Id(Uuid::new_v5(&Uuid::NAMESPACE_OID, TYPE.name.as_bytes()));
        let cursor = match self.begin(id).await {
            Ok(cursor) => cursor,
            Err(error) => return tracing::warn!(error, "cannot read the stored event position"),
        };
        let mut events = EventFollower::new(&self.outbox, &self.store, cursor);
        let follower = self.outbox.followers.add(TYPE.name, cursor);
        loop {
            let read = match events.next(EVENTS_PER_READ).await {
                Ok(Some(read)) => read,
                Ok(None) => return,
                Err(error) => return tracing::warn!(%error, "cannot read events"),
            };
            let mut was_told = false;
            for numbered in read.iter().filter(|numbered| self.event_names.contains(&numbered.event.event)) {
                self.tell(line, id, numbered).await;
                was_told = true;
            }
            follower.has_read(events.position());
            if was_told {
                self.keep(id, events.position()).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_error_of_the_workflow_itself_lets_an_event_be_passed_over() {
        for words in ["500 Error in workflow", "409 known already", "418 "] {
            assert!(answered(&PeerFault::new("x").saying(words)), "{words}");
        }
        assert!(!answered(&PeerFault::new("x")));
        for words in ["404 no", "401 no", "405 no", "429 later", "301 there", "refused", ""] {
            assert!(!answered(&PeerFault::new("x").saying(words)), "{words}");
        }
    }
}
