//! The agent gateway: messages go to it over its line. They are mails (`domain/mail`), kept until it takes them; its commands come in
//! over HTTP.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::heartbeat::Heartbeat;
use super::{IntegrationType, Line};
use crate::services::mail::{MailError, Mailer, Message};
use crate::services::peers::{self, PeerFault};

/// The agent gateway.
pub(super) static TYPE: IntegrationType = IntegrationType {
    name: "agent",
    title: "Agent gateway",
    is_on: |config| !config.agent.url.is_empty(),
    test: |client, config| Box::pin(peers::agent(client, &config.agent.url)),
    work: |config, sources| Ok(Arc::new(Heartbeat::new(&TYPE, config, sources.client.clone()))),
};

/// Hands messages over on the line of the gateway.
pub struct AgentLine {
    gateway: Arc<dyn Mailer>,
    line: Arc<Line>,
}

impl AgentLine {
    /// Over this line to this gateway.
    pub fn new(gateway: Arc<dyn Mailer>, line: Arc<Line>) -> Self {
        Self { gateway, line }
    }

    async fn hand_over(&self, message: &Message) -> Result<(), MailError> {
        let call = async {
            match self.gateway.send(message).await {
                // The gateway is well; this one message is not for it.
                Err(error @ MailError::Permanent { .. }) => Ok(Err(error)),
                Err(error) => Err(PeerFault::new(error.to_string())),
                Ok(()) => Ok(Ok(())),
            }
        };
        match self.line.call(call).await {
            Ok(taken) => taken,
            Err(fault) => Err(MailError::Transient { reason: fault.message }),
        }
    }
}

impl Mailer for AgentLine {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<(), MailError>> {
        Box::pin(self.hand_over(message))
    }
}
