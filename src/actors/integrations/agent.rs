//! Integration with the agent gateway, which receives messages. The messages are mail aggregates (`domain/mail`),
//! stored until the gateway accepts them; commands from the gateway arrive over HTTP.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::heartbeat::Heartbeat;
use super::{IntegrationType, SystemLine};
use config::Config;
use services::agent::AgentGateway;
use services::mail::{MailError, Mailer, Message};
use services::peer_client::{PeerHttp, PeerSettingError};
use services::peer_fault::PeerFault;
use services::peers;

/// Declaration of the agent gateway integration.
pub(super) static TYPE: IntegrationType = IntegrationType {
    name: "agent",
    title: "Agent gateway",
    is_on: |config| !config.agent.url.is_empty(),
    test: |client, config| Box::pin(peers::agent(client, &config.agent.url, config.agent.token.expose())),
    prepare: |config, http| {
        gateway(config, http)?;
        let heartbeat = Heartbeat::new(&TYPE, config, http.client().clone());
        Ok(Box::new(move |_| Arc::new(heartbeat)))
    },
};

fn gateway(config: &Config, http: &PeerHttp) -> Result<AgentGateway, PeerSettingError> {
    AgentGateway::new(http.clone(), &config.agent.url, config.agent.token.expose())
}

/// Message sender that uses the gateway connection.
pub struct AgentSender {
    gateway: Result<AgentGateway, PeerSettingError>,
    line: Arc<SystemLine>,
}

impl AgentSender {
    /// Creates a sender for the configured gateway over the given connection; `None` if no gateway is configured. While
    /// the settings are invalid, messages are stored until they can be sent.
    pub fn new(config: &Config, http: &PeerHttp, line: Arc<SystemLine>) -> Option<Self> {
        (TYPE.is_on)(config).then(|| Self { gateway: gateway(config, http), line })
    }

    async fn hand_over(&self, message: &Message) -> Result<(), MailError> {
        let gateway = self.gateway.as_ref().map_err(|error| MailError::Transient { reason: error.to_string() })?;
        let call = async {
            match gateway.send(message).await {
                // The gateway is well; this one message is not for it.
                Err(error @ (MailError::Permanent { .. } | MailError::Rejected { .. })) => Ok(Err(error)),
                Err(error) => Err(PeerFault::new(error.to_string())),
                Ok(()) => Ok(Ok(())),
            }
        };
        match self.line.call(call).await {
            Ok(outcome) => outcome,
            Err(fault) => Err(MailError::Transient { reason: fault.message }),
        }
    }
}

impl Mailer for AgentSender {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<(), MailError>> {
        Box::pin(self.hand_over(message))
    }
}
