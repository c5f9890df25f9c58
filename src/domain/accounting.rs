//! Connection to the accounting system: its OAuth authorization by an admin, and its tokens, which are renewed
//! regularly.
//!
//! There is only one connection. When an admin starts to connect, a request is recorded whose `state` can be used once,
//! by the same session and within ten minutes; the provider then issues two tokens. The access token is short-lived.
//! The refresh token can be exchanged for a new pair once: the exchange is recorded beforehand, and the new pair is
//! committed before either token is used. If the server stops in between, it tries the refresh token again after the
//! restart, and alerts the operators if the provider no longer accepts it. Callers encrypt tokens before passing them
//! in. [`paper`] defines the documents sent to the provider; [`crate::posting`] tracks their progress.

pub mod paper;

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::aggregate::{Aggregate, Command, Confirmation, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::mail::Mail;
use crate::mail::alert::AlertKind;
use crate::refusal::{Class, Refusal};
use crate::time::Timestamp;
use words::staff::alerts as texts;

/// Time that an admin may spend on the provider's consent page, in milliseconds: 10 minutes.
const REQUEST_LIFE_MS: i64 = 10 * 60_000;
/// Maximum number of pending requests; the oldest is dropped when one too many is added.
const MAX_REQUESTS: usize = 10;
/// Maximum length of an encrypted token, in bytes.
const MAX_SEALED_CHARS: usize = 8_000;

/// Error code for a `state` that was used, has expired, or never existed.
pub const INVALID_STATE: &str = "invalid_state";
/// Error code for a command that requires a connection when there is none.
pub const NOT_CONNECTED: &str = "accounting_not_connected";

/// Access and refresh token of a connection, encrypted with the server's key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SealedTokens {
    /// Encrypted access token, sent with API calls.
    pub access: String,
    /// Encrypted refresh token, which can be exchanged once for the next pair of tokens.
    pub refresh: String,
    /// Time at which the access token expires.
    pub expires_at: Timestamp,
}

/// Pending authorization: an admin is on the provider's consent page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectRequest {
    /// SHA-256 of the OAuth `state` in hexadecimal.
    pub state_hash: String,
    /// Session that started the authorization.
    pub session: Id,
    /// Encrypted PKCE code verifier.
    pub sealed_verifier: String,
    /// Time at which the request expires.
    pub expires_at: Timestamp,
}

/// Organisation whose accounts are kept in the accounting system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// The provider's ID for the organisation.
    pub id: String,
    /// Name of the organisation.
    pub name: String,
}

/// Established connection to the accounting system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountingLink {
    /// Organisation that the connection belongs to.
    pub tenant: Tenant,
    /// Email address of the admin who connected it.
    pub connected_by: String,
    /// Time at which the connection was established.
    pub connected_at: Timestamp,
    /// Current tokens, encrypted.
    pub tokens: SealedTokens,
    /// Number of token renewals; identifies the current pair.
    pub renewals: u32,
    /// `true` while a token renewal has been started and its outcome is unknown.
    pub renewing: bool,
}

/// Aggregate that represents the connection to the accounting system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accounting {
    /// Always [`Id::ONLY`].
    pub id: Id,
    /// Pending authorizations, oldest first.
    pub requests: Vec<ConnectRequest>,
    /// Current connection, if any.
    pub link: Option<AccountingLink>,
    /// Reason why the system must be reconnected; `None` while connected, or if never connected.
    pub lost: Option<String>,
    /// Encrypted refresh token of an ended connection, kept until it has been revoked at the provider.
    pub to_revoke: Option<String>,
    /// Time of the first connection; documents issued before it are not sent.
    pub since: Option<Timestamp>,
}

/// Commands that change the accounting connection.
#[derive(Clone, Debug)]
pub enum AccountingCommand {
    /// Records that an admin was redirected to the provider's consent page.
    Begin {
        /// SHA-256 of the OAuth `state` in hexadecimal.
        state_hash: String,
        /// Session of the admin.
        session: Id,
        /// PKCE code verifier, encrypted by the HTTP layer.
        sealed_verifier: String,
    },
    /// Stores the tokens issued by the provider, replacing any earlier connection.
    Connect {
        /// Organisation that the admin chose.
        tenant: Tenant,
        /// Email address of the admin who connected the system.
        by: String,
        /// First pair of tokens.
        tokens: SealedTokens,
    },
    /// Records that the refresh token is about to be used, for the token pair with the given number of renewals.
    Renew(u32),
    /// Stores the new pair of tokens that the provider issued for the refresh token.
    Renewed {
        /// [`AccountingLink::renewals`] of the previous token pair.
        renewals: u32,
        /// New pair of tokens.
        tokens: SealedTokens,
    },
    /// Records that the provider no longer accepts the refresh token.
    Lost {
        /// [`AccountingLink::renewals`] of the rejected token pair.
        renewals: u32,
        /// The provider's error message.
        words: String,
    },
    /// Ends the connection; its token is revoked at the provider later.
    Disconnect,
    /// Records that the token was revoked at the provider.
    Revoked,
}

/// Command that redeems the `state` of a request when the admin returns from the provider.
#[derive(Clone, Debug)]
pub struct RedeemState {
    /// SHA-256 of the OAuth `state` in hexadecimal.
    pub state_hash: String,
    /// Session of the admin.
    pub session: Id,
}

impl Aggregate for Accounting {
    const KIND: &'static str = "accounting";
    type Row = Infallible;
    type Created = Mail;
    type Effect = Infallible;
}

impl Command<Accounting> for AccountingCommand {
    type Answer = Confirmation;

    fn decide(&self, this: Option<&Accounting>, id: Id, cx: &DecisionContext<'_>) -> DecisionResult<Accounting> {
        Accounting::present_or_new(this, id).after(cx, self)
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            AccountingCommand::Begin { .. } => AuditedAct::AccountingBegin,
            AccountingCommand::Connect { .. } => AuditedAct::AccountingConnect,
            AccountingCommand::Renew(_) => AuditedAct::AccountingRenew,
            AccountingCommand::Renewed { .. } => AuditedAct::AccountingRenewed,
            AccountingCommand::Lost { .. } => AuditedAct::AccountingLost,
            AccountingCommand::Disconnect => AuditedAct::AccountingDisconnect,
            AccountingCommand::Revoked => AuditedAct::AccountingRevoked,
        }
    }
}

impl Command<Accounting> for RedeemState {
    /// Encrypted PKCE code verifier of the redeemed request.
    type Answer = String;

    fn decide(
        &self,
        this: Option<&Accounting>,
        id: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<Accounting, String> {
        let mut next = Accounting::present_or_new(this, id);
        let matches_state = |one: &ConnectRequest| one.state_hash == self.state_hash && cx.now < one.expires_at;
        let at = next.requests.iter().position(matches_state).ok_or_else(invalid_state)?;
        if next.requests.get(at).is_some_and(|one| one.session != self.session) {
            // It stays: a stranger who learnt it ends nobody's way.
            return Err(Refusal::forbidden("other_session", "this connection was started in another session"));
        }
        let request = next.requests.remove(at);
        Ok(Decision::to(next, request.sealed_verifier))
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::AccountingRedeem
    }
}

fn done(next: Accounting) -> Decision<Accounting> {
    Decision::to(next, Confirmation::Done)
}

impl Accounting {
    fn present_or_new(this: Option<&Self>, id: Id) -> Self {
        let nothing = || Self { id, requests: Vec::new(), link: None, lost: None, to_revoke: None, since: None };
        this.cloned().unwrap_or_else(nothing)
    }

    fn after(mut self, cx: &DecisionContext<'_>, command: &AccountingCommand) -> Result<Decision<Self>, Refusal> {
        match command {
            AccountingCommand::Begin { state_hash, session, sealed_verifier } => {
                self.requests.retain(|one| cx.now < one.expires_at);
                let surplus = (self.requests.len() + 1).saturating_sub(MAX_REQUESTS);
                self.requests.drain(..surplus);
                self.requests.push(ConnectRequest {
                    state_hash: state_hash.clone(),
                    session: *session,
                    sealed_verifier: sealed_verifier.clone(),
                    expires_at: cx.now.plus_ms(REQUEST_LIFE_MS),
                });
                Ok(done(self))
            }
            AccountingCommand::Connect { tenant, by, tokens } => {
                fits(tokens)?;
                self.link = Some(AccountingLink {
                    tenant: tenant.clone(),
                    connected_by: by.clone(),
                    connected_at: cx.now,
                    tokens: tokens.clone(),
                    renewals: 0,
                    renewing: false,
                });
                (self.lost, self.since) = (None, self.since.or(Some(cx.now)));
                Ok(done(self))
            }
            AccountingCommand::Disconnect => {
                let link = self.link.take();
                if link.is_none() && self.lost.is_none() {
                    return Err(Refusal::conflict(NOT_CONNECTED, "the accounting system is not connected"));
                }
                self.lost = None;
                self.to_revoke = link.map(|link| link.tokens.refresh).or(self.to_revoke);
                Ok(done(self))
            }
            AccountingCommand::Revoked if self.to_revoke.is_some() => Ok(done(Self { to_revoke: None, ..self })),
            AccountingCommand::Renew(renewals) => self.renew(*renewals),
            AccountingCommand::Renewed { renewals, tokens } => self.renewed(*renewals, tokens),
            AccountingCommand::Lost { renewals, words } => Ok(self.lose(cx, *renewals, words)),
            AccountingCommand::Revoked => Ok(Decision::unchanged(Confirmation::Done)),
        }
    }

    /// Returns the connection if its tokens were renewed exactly `renewals` times.
    fn link_of(&mut self, renewals: u32) -> Option<&mut AccountingLink> {
        self.link.as_mut().filter(|link| link.renewals == renewals)
    }

    fn renew(mut self, renewals: u32) -> Result<Decision<Self>, Refusal> {
        let link = self.link_of(renewals).ok_or_else(other_tokens)?;
        link.renewing = true;
        Ok(done(self))
    }

    fn renewed(mut self, renewals: u32, tokens: &SealedTokens) -> Result<Decision<Self>, Refusal> {
        fits(tokens)?;
        let link = self.link_of(renewals).ok_or_else(other_tokens)?;
        (link.tokens, link.renewals, link.renewing) = (tokens.clone(), renewals.saturating_add(1), false);
        Ok(done(self))
    }

    fn lose(mut self, cx: &DecisionContext<'_>, renewals: u32, words: &str) -> Decision<Self> {
        if self.link_of(renewals).is_none() {
            return Decision::unchanged(Confirmation::Done);
        }
        let reason = format!("the accounting system must be reconnected: {words}");
        let url = format!("{}/api/v1/integrations/accounting/connect", cx.rules.public_url);
        let mails = Mail::alert(cx, AlertKind::Accounting, |language| {
            (texts::reconnect_subject(language), texts::reconnect(language, &reason, &url))
        });
        (self.link, self.lost) = (None, Some(reason));
        done(self).created(mails)
    }
}

fn fits(tokens: &SealedTokens) -> Result<(), Refusal> {
    if tokens.access.len() <= MAX_SEALED_CHARS && tokens.refresh.len() <= MAX_SEALED_CHARS {
        return Ok(());
    }
    Err(Refusal::new(Class::Invalid, "token_too_long", "the provider's tokens are too long to store"))
}

fn invalid_state() -> Refusal {
    Refusal::new(
        Class::Invalid,
        INVALID_STATE,
        "this connection request is invalid, has expired or was already used; start again",
    )
}

/// Builds the refusal for tokens that have since been replaced by a reconnect, disconnect or renewal.
fn other_tokens() -> Refusal {
    Refusal::conflict("other_tokens", "the tokens have been replaced in the meantime")
}

#[cfg(test)]
mod tests;
