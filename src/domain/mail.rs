//! Outgoing email. It is created in the commit that causes it, so that it cannot be lost, and sent by an effect until
//! the provider accepts it or it is abandoned.

use std::convert::Infallible;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::aggregate::{Aggregate, Command, Confirmation, Decision, DecisionContext, NewAggregate};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::mail::alert::{AlertKind, AlertTranslation};
use crate::mail::part::{AttachedDocument, MailLink, MailPart, one_line};
use crate::refusal::Refusal;
use crate::time::Timestamp;
use words::Language;

pub mod alert;
pub mod kind;
pub mod part;

/// Number of attempts before an email is abandoned: about two days with the delays of [`retry_ms`].
const MAX_TRIES: u32 = 12;

/// Delivery state of an email.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailState {
    /// Waiting to be sent.
    Queued,
    /// Accepted by the provider.
    Sent,
    /// Abandoned: permanently rejected, or too many attempts failed.
    Failed,
}

/// Channel through which a message is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// Email to the recipients listed in the message.
    #[default]
    Mail,
    /// Agent gateway (`AGENT_URL`), which knows its own recipients.
    Agent,
}

/// Email, or a message to the agent gateway.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mail {
    /// Unique identifier; also the `Message-ID`, so that duplicates are recognised.
    pub id: Id,
    /// Channel through which the message is sent.
    #[serde(default)]
    pub channel: Channel,
    /// Email addresses of the recipients. Empty for the agent gateway, and for an alert to all admins who are active at
    /// the time of sending.
    pub to: Vec<String>,
    /// Language of the texts.
    #[serde(default, skip_serializing_if = "Language::is_english")]
    pub language: Language,
    /// Subject, on one line without control characters.
    pub subject: String,
    /// Opening text: sentences in paragraphs, without the link.
    pub text: String,
    /// Tables and additional links after the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<MailPart>,
    /// Document attached as a PDF, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached: Option<AttachedDocument>,
    /// Kind of alert, by which alerts to the operators are combined into one email; `None` for other emails.
    #[serde(default)]
    pub alert: Option<AlertKind>,
    /// Texts of an alert in each other language, for recipients who read that language.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub translations: Vec<AlertTranslation>,
    /// Link to the page where the recipient can act.
    #[serde(default)]
    pub link: Option<MailLink>,
    /// Link that only the recipient may see. It is removed from the record once the email has been sent or abandoned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed_link: Option<SealedLink>,
    /// Time after which the email is useless and is abandoned, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub useless_at: Option<Timestamp>,
    /// Delivery state.
    pub state: MailState,
    /// Number of attempts made.
    pub tries: u32,
    /// Time of the next attempt.
    pub next_at: Timestamp,
    /// The provider's response to the last failed attempt, if any.
    pub error: Option<String>,
    /// Creation time.
    pub created_at: Timestamp,
}

/// Link whose URL is a secret, such as a sign-in link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SealedLink {
    /// Human-readable label of the link.
    pub label: String,
    /// URL, encrypted with the server's key.
    pub encrypted_url: String,
}

impl Mail {
    /// Builds an email in English that is due now. Line breaks in its subject are removed.
    pub fn new(cx: &DecisionContext<'_>, to: Vec<String>, subject: String, text: String) -> Self {
        Self {
            id: cx.ids.id(),
            channel: Channel::Mail,
            to,
            language: Language::English,
            subject: one_line(&subject),
            text,
            parts: Vec::new(),
            attached: None,
            alert: None,
            translations: Vec::new(),
            link: None,
            sealed_link: None,
            useless_at: None,
            state: MailState::Queued,
            tries: 0,
            next_at: cx.now,
            error: None,
            created_at: cx.now,
        }
    }

    /// Returns the longest time until the next attempt, regardless of the wall clock: setting the clock back does not
    /// delay an email beyond its retry delay.
    pub fn longest_wait(&self) -> Duration {
        match self.tries {
            0 => Duration::ZERO,
            tries => Duration::from_millis(retry_ms(tries).unsigned_abs()),
        }
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

/// Command that records the outcome of sending an email.
#[derive(Clone, Debug)]
pub enum MailCommand {
    /// Records the outcome of an attempt.
    Tried {
        /// Number of the attempt, starting at 1; used to ignore duplicate reports.
        number: u32,
        /// The provider's error response; `None` if the provider accepted the email.
        error: Option<String>,
        /// `true` if further attempts would be useless.
        permanent: bool,
    },
}

/// Effect that tries to send the email.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SendMail {
    /// Number of the attempt, starting at 1.
    pub number: u32,
    /// Due time.
    pub at: Timestamp,
}

/// Returns the delay before the next attempt, in milliseconds: 1 minute, doubled each time up to 8 hours.
fn retry_ms(tries: u32) -> i64 {
    60_000i64.saturating_mul(1 << tries.saturating_sub(1).min(9)).min(8 * 3_600_000)
}

impl Aggregate for Mail {
    const KIND: &'static str = "mail";
    type Row = Infallible;
    type Created = Infallible;
    type Effect = SendMail;

    fn effects(&self) -> Vec<SendMail> {
        match self.state {
            MailState::Queued => vec![SendMail { number: self.tries + 1, at: self.next_at }],
            MailState::Sent | MailState::Failed => Vec::new(),
        }
    }

    fn at_rest(&self) -> bool {
        self.state != MailState::Queued
    }
}

impl Command<Mail> for MailCommand {
    type Answer = Confirmation;

    fn decide(&self, this: Option<&Mail>, _: Id, cx: &DecisionContext<'_>) -> Result<Decision<Mail>, Refusal> {
        let mail = this.ok_or_else(|| Refusal::not_found(Mail::KIND))?;
        let MailCommand::Tried { number, error, permanent } = self;
        if mail.state != MailState::Queued || *number != mail.tries + 1 {
            return Ok(Decision::unchanged(Confirmation::Done));
        }
        let next_at = cx.now.plus_ms(retry_ms(*number));
        let useless = mail.useless_at.is_some_and(|at| next_at >= at);
        let state = match error {
            None => MailState::Sent,
            Some(_) if *permanent || useless || *number >= MAX_TRIES => MailState::Failed,
            Some(_) => MailState::Queued,
        };
        let sealed_link = mail.sealed_link.clone().filter(|_| state == MailState::Queued);
        let tried = Mail { state, tries: *number, next_at, error: error.clone(), sealed_link, ..mail.clone() };
        Ok(Decision::to(tried, Confirmation::Done))
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::MailTried
    }
}

#[cfg(test)]
mod tests;
