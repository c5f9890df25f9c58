//! Token pair for the accounting system. The access token is sent with calls; the refresh token replaces both tokens
//! before the access token expires.
//!
//! The start of a refresh is stored before the refresh token is used, and the new tokens are stored before either is
//! used. If the server stops at any point, the stored pair is therefore either the latest or one whose refresh token
//! can be tried once more.

use std::time::Duration;

use tokio::time::sleep;

use super::{PostingError, PostingWork, call};
use crate::integrations::SystemLine;
use domain::accounting::{AccountingCommand, AccountingLink, SealedTokens};
use domain::time::Timestamp;
use kernel::handle::AskError;
use platform::secrets::encryption::SecretCipher;
use services::accounting::{AccountingError, Tokens};

/// Remaining token lifetime, in milliseconds, below which a token is refreshed: 2 minutes.
const MARGIN_MS: i64 = 120_000;
/// Pause before retrying to store a new pair.
const KEEP_AGAIN: Duration = Duration::from_millis(500);

/// Encrypts tokens for storage; their lifetime starts at `now`.
pub(super) fn sealed(cipher: &SecretCipher, tokens: &Tokens, now: Timestamp) -> SealedTokens {
    let life_ms = i64::try_from(tokens.life_seconds).unwrap_or(i64::MAX).saturating_mul(1000);
    SealedTokens {
        access: cipher.encrypt_or_empty(&tokens.access),
        refresh: cipher.encrypt_or_empty(&tokens.refresh),
        expires_at: now.plus_ms(life_ms),
    }
}

impl PostingWork {
    /// Returns a valid access token for the given connection; `anew` forces a refresh. Returns `None` if the connection
    /// was lost or replaced.
    pub(super) async fn access(
        &self,
        line: &SystemLine,
        link: &AccountingLink,
        anew: bool,
    ) -> Result<Option<String>, PostingError> {
        let left = link.tokens.expires_at.since(self.environment.now());
        if left > MARGIN_MS && !anew && !link.renewing {
            return Ok(Some(self.cipher.decrypt(&link.tokens.access)?));
        }
        let renewals = link.renewals;
        let refresh = match self.cipher.decrypt(&link.tokens.refresh) {
            Ok(refresh) => refresh,
            Err(error) => {
                self.tell(AccountingCommand::Lost { renewals, words: error.to_string() }).await?;
                return Ok(None);
            }
        };
        match self.tell(AccountingCommand::Renew(renewals)).await {
            Err(AskError::Refused(_)) => return Ok(None),
            outcome => outcome?,
        }
        match call(line, self.client.next_tokens(&refresh)).await {
            Ok(tokens) => self.keep(renewals, tokens).await,
            Err(AccountingError::Refused(words)) => {
                let words = if link.renewing {
                    format!(
                        "the server stopped while the tokens were being renewed, and the old tokens are no longer accepted ({words})"
                    )
                } else {
                    format!("the tokens are no longer accepted ({words})")
                };
                self.tell(AccountingCommand::Lost { renewals, words }).await?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Stores a new pair, retrying until it succeeds, because there is no other copy of the tokens.
    async fn keep(&self, renewals: u32, tokens: Tokens) -> Result<Option<String>, PostingError> {
        let tokens_kept = sealed(&self.cipher, &tokens, self.environment.now());
        loop {
            let renewed = AccountingCommand::Renewed { renewals, tokens: tokens_kept.clone() };
            match self.tell(renewed).await {
                Ok(()) => return Ok(Some(tokens.access)),
                // Kept by a try whose answer was lost, or somebody connected anew: the next round reads what is kept.
                Err(AskError::Refused(_)) => return Ok(None),
                Err(error) => {
                    tracing::warn!(%error, "cannot store the new tokens of the accounting system; retrying");
                    sleep(KEEP_AGAIN).await;
                }
            }
        }
    }
}
