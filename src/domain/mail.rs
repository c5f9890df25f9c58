//! Outgoing email. It is created in the commit that causes it, so that it cannot be lost, and sent by an effect until
//! the provider accepts it or it is abandoned.

use std::convert::Infallible;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::aggregate::{Aggregate, Command, Confirmation, Decision, DecisionContext, DecisionResult, NewAggregate};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::mail::alert::{AlertKind, AlertTranslation};
use crate::mail::part::{AttachedDocument, MailLink, MailPart, MailTopic, one_line};
use crate::mail::undelivered::MailFailure;
use crate::refusal::Refusal;
use crate::time::Timestamp;
use words::Language;

pub mod alert;
pub mod kind;
pub mod part;
pub mod undelivered;

/// Number of attempts before an email is abandoned: about a day with the delays of [`retry_ms`].
const MAX_TRIES: u32 = 12;

/// Delivery state of an email.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailState {
    /// Waiting to be sent.
    Queued,
    /// Accepted by the provider.
    Sent,
    /// Abandoned: permanently rejected, or too many attempts failed. It is on the staff's to-do list.
    Failed,
    /// Abandoned, and dismissed by a member of staff.
    Dismissed,
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
    /// Link that only the recipient may see. It is removed from the record once the email has been sent, or abandoned
    /// because it had expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed_link: Option<SealedLink>,
    /// Time after which the email is useless and is abandoned, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub useless_at: Option<Timestamp>,
    /// Delivery state.
    pub state: MailState,
    /// Records that the email is about, on whose pages it is shown if it is not delivered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<MailTopic>,
    /// Number of attempts made.
    pub tries: u32,
    /// Number of attempts made before the email was sent again; 0 if it never was.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub earlier_tries: u32,
    /// Number of the idempotency key: 0 for the ID itself, and one more for each key that took the place of another.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub key_number: u32,
    /// Languages in which an alert was sent although the email in another one failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent_in: Vec<Language>,
    /// Reason why the email was abandoned; `None` unless it was, and for those that earlier versions abandoned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<MailFailure>,
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
            topics: Vec::new(),
            tries: 0,
            earlier_tries: 0,
            key_number: 0,
            sent_in: Vec::new(),
            failure: None,
            next_at: cx.now,
            error: None,
            created_at: cx.now,
        }
    }

    /// Records the topic of the email, unless it is already recorded.
    pub fn about(mut self, topic: MailTopic) -> Self {
        if !self.topics.contains(&topic) {
            self.topics.push(topic);
        }
        self
    }

    /// Returns the idempotency key under which the email is sent; also its `Message-ID`.
    pub fn key(&self) -> String {
        match self.key_number {
            0 => self.id.to_string(),
            number => format!("{}-{number}", self.id),
        }
    }

    /// Returns the number of attempts made since the email was created, or since it was sent again.
    fn tries_of_round(&self) -> u32 {
        self.tries.saturating_sub(self.earlier_tries)
    }

    /// Returns the longest time until the next attempt, regardless of the wall clock: setting the clock back does not
    /// delay an email beyond its retry delay.
    pub fn longest_wait(&self) -> Duration {
        match self.tries_of_round() {
            0 => Duration::ZERO,
            tries => Duration::from_millis(retry_ms(tries).unsigned_abs()),
        }
    }

    /// Returns the email after another attempt, which ends its delivery or is followed by the next one.
    fn after_try(&self, cx: &DecisionContext<'_>, outcome: &TryOutcome, sent_in: &[Language]) -> Self {
        let tries = self.tries.saturating_add(1);
        let of_round = tries.saturating_sub(self.earlier_tries);
        let next_at = cx.now.plus_ms(retry_ms(of_round));
        let is_useless_at = |time: Timestamp| self.useless_at.is_some_and(|at| time >= at);
        let failure = match outcome {
            TryOutcome::Rejected(_) => Some(MailFailure::Rejected),
            TryOutcome::Unsendable(_) if is_useless_at(cx.now) => Some(MailFailure::Expired),
            TryOutcome::Unsendable(_) => Some(MailFailure::Unsendable),
            TryOutcome::Deferred(_) if is_useless_at(next_at) => Some(MailFailure::Expired),
            TryOutcome::Deferred(_) if of_round >= MAX_TRIES => Some(MailFailure::Exhausted),
            TryOutcome::Sent | TryOutcome::Deferred(_) => None,
        };
        let state = match outcome {
            TryOutcome::Sent => MailState::Sent,
            _ if failure.is_some() => MailState::Failed,
            _ => MailState::Queued,
        };
        let keeps_link = state != MailState::Sent && failure != Some(MailFailure::Expired);
        let sealed_link = self.sealed_link.clone().filter(|_| keeps_link);
        let mut partly_sent_in = Vec::new();
        if state != MailState::Sent {
            partly_sent_in.clone_from(&self.sent_in);
            partly_sent_in.extend(sent_in.iter().filter(|language| !self.sent_in.contains(language)));
        }
        let error = outcome.reason().map(str::to_owned);
        Self { state, tries, next_at, error, sealed_link, failure, sent_in: partly_sent_in, ..self.clone() }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl NewAggregate for Mail {
    fn kind(&self) -> &'static str {
        <Self as Aggregate>::KIND
    }
    fn id(&self) -> Id {
        self.id
    }
}

/// Outcome of an attempt to send an email.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TryOutcome {
    /// The provider accepted the email.
    Sent,
    /// The attempt failed for the given reason; another one may succeed.
    Deferred(String),
    /// The provider rejected the email for the given reason, and would reject it again.
    Rejected(String),
    /// The email cannot be sent for the given reason, which is none of the provider's, so no attempt would succeed.
    Unsendable(String),
}

impl TryOutcome {
    /// Returns the reason why the email was not sent; `None` if it was.
    fn reason(&self) -> Option<&str> {
        match self {
            Self::Sent => None,
            Self::Deferred(reason) | Self::Rejected(reason) | Self::Unsendable(reason) => Some(reason),
        }
    }
}

/// Command that records the outcome of sending an email.
#[derive(Clone, Debug)]
pub enum MailCommand {
    /// Records the outcome of an attempt.
    Tried {
        /// Number of the attempt, starting at 1; used to ignore duplicate reports.
        number: u32,
        /// Outcome of the attempt.
        outcome: TryOutcome,
        /// Languages in which an alert has been sent, whatever the outcome in others.
        sent_in: Vec<Language>,
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
            MailState::Sent | MailState::Failed | MailState::Dismissed => Vec::new(),
        }
    }

    fn at_rest(&self) -> bool {
        self.state != MailState::Queued
    }
}

impl Command<Mail> for MailCommand {
    type Answer = Confirmation;

    fn decide(&self, this: Option<&Mail>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Mail> {
        let mail = this.ok_or_else(|| Refusal::not_found(Mail::KIND))?;
        let Self::Tried { number, outcome, sent_in } = self;
        if mail.state != MailState::Queued || *number != mail.tries + 1 {
            return Ok(Decision::unchanged(Confirmation::Done));
        }
        Ok(Decision::to(mail.after_try(cx, outcome, sent_in), Confirmation::Done))
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::MailTried
    }
}

#[cfg(test)]
mod tests;
