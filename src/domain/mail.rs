//! A mail to be sent: made by the commit that calls for it, wanted until it is taken or given up.

use crate::domain::aggregate::{Aggregate, Decision, DecisionContext, NewAggregate};
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;

/// Tries before a mail is given up: with [`retry_ms`] about two days.
pub const MOST_TRIES: u32 = 12;

/// Where a mail stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailState {
    /// To be sent.
    Queued,
    /// Taken by the provider.
    Sent,
    /// Refused for good, or tried too often.
    Failed,
}

/// Which way a message goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// As e-mail.
    #[default]
    Mail,
    /// To the agent gateway (`AGENT_URL`), which has its own receivers.
    Agent,
}

/// A mail, or a message to the agent gateway.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mail {
    /// Identifier; also its `Message-ID`, so that a repeat is recognised.
    pub id: Id,
    /// Which way it goes.
    #[serde(default)]
    pub channel: Channel,
    /// Addresses; none for the agent gateway.
    pub to: Vec<String>,
    /// Subject line.
    pub subject: String,
    /// Plain text.
    pub text: String,
    /// Where it stands.
    pub state: MailState,
    /// Tries so far.
    pub tries: u32,
    /// Not before.
    pub next_at: Timestamp,
    /// The provider's last words.
    pub error: Option<String>,
    /// When it was called for.
    pub created_at: Timestamp,
}

impl Mail {
    /// A mail to be sent now.
    pub fn new(cx: &DecisionContext<'_>, to: Vec<String>, subject: String, text: String) -> Self {
        Self {
            id: cx.ids.id(),
            channel: Channel::Mail,
            to,
            subject,
            text,
            state: MailState::Queued,
            tries: 0,
            next_at: cx.now,
            error: None,
            created_at: cx.now,
        }
    }

    /// What operators are told by every way that is configured: by mail, and through the agent gateway.
    pub fn to_operators(cx: &DecisionContext<'_>, subject: &str, text: &str) -> Vec<Self> {
        let to = cx.rules.operator_mail.clone();
        let mail = (!to.is_empty()).then(|| Self::new(cx, to, subject.to_owned(), text.to_owned()));
        let agent = cx.rules.agent_gateway.then(|| {
            let message = Self::new(cx, Vec::new(), subject.to_owned(), text.to_owned());
            Self { channel: Channel::Agent, ..message }
        });
        mail.into_iter().chain(agent).collect()
    }
}

impl NewAggregate for Mail {
    fn kind(&self) -> &'static str {
        <Self as Aggregate>::KIND
    }
    fn id(&self) -> Id {
        self.id
    }
}

/// What is asked of a mail.
#[derive(Clone, Debug)]
pub enum MailCommand {
    /// The provider answered.
    Tried {
        /// Which try, so that a repeat is recognised.
        number: u32,
        /// `None` when it was taken; else the provider's words.
        error: Option<String>,
        /// Trying again is of no use.
        permanent: bool,
    },
}

/// A mail wants to be sent.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Send {
    /// Which try.
    pub number: u32,
    /// Not before.
    pub at: Timestamp,
}

/// Delay before the next try: 1 min doubling to 8 h.
pub fn retry_ms(tries: u32) -> i64 {
    60_000i64.saturating_mul(1 << tries.saturating_sub(1).min(9)).min(8 * 3_600_000)
}

impl Aggregate for Mail {
    const KIND: &'static str = "mail";
    type Command = MailCommand;
    type Answer = ();
    type Row = Infallible;
    type Created = Infallible;
    type Effect = Send;

    fn decide(
        this: Option<&Self>,
        _: Id,
        cx: &DecisionContext<'_>,
        command: &MailCommand,
    ) -> Result<Decision<Self>, Refusal> {
        let mail = this.ok_or_else(|| Refusal::not_found(Self::KIND))?;
        let MailCommand::Tried { number, error, permanent } = command;
        if mail.state != MailState::Queued || *number != mail.tries + 1 {
            return Ok(Decision::unchanged(()));
        }
        let state = match error {
            None => MailState::Sent,
            Some(_) if *permanent || *number >= MOST_TRIES => MailState::Failed,
            Some(_) => MailState::Queued,
        };
        let next_at = cx.now.plus_ms(retry_ms(*number));
        Ok(Decision::to(Self { state, tries: *number, next_at, error: error.clone(), ..mail.clone() }, ()))
    }

    fn name(_: &MailCommand) -> &'static str {
        "mail.tried"
    }

    fn effects(&self) -> Vec<Send> {
        match self.state {
            MailState::Queued => vec![Send { number: self.tries + 1, at: self.next_at }],
            MailState::Sent | MailState::Failed => Vec::new(),
        }
    }

    fn at_rest(&self) -> bool {
        self.state != MailState::Queued
    }
}

#[cfg(test)]
mod tests;
