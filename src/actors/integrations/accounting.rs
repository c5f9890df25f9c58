//! Integration with the accounting system: posts the documents of settled invoices, exactly once, in the order in which
//! they were issued.
//!
//! The documents to post are always determined from stored data, so nothing is queued and nothing can be lost. Each
//! document has a posting ([`domain::posting`]). Before a document is created in the accounting system, it is looked up
//! there by number; the create request has an idempotency key. Tokens are refreshed before they expire ([`tokens`]).
//! Documents that the accounting system rejects are on hold until an operator acts; while the system does not respond,
//! everything is on hold.

mod tokens;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio::time::sleep;
use url::Url;
use uuid::Uuid;

use super::{IntegrationType, IntegrationWork, Sources, SystemLine};
use config::Config;
use domain::accounting::paper::AccountingDocument;
use domain::accounting::{Accounting, AccountingCommand, SealedTokens, Tenant};
use domain::id::Id;
use domain::invoice::{DocumentKind, Invoice, IssuedDocument};
use domain::posting::{Posting, PostingCommand, PostingState};
use domain::time::Timestamp;
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use kernel::handle::AskError;
use platform::secrets::encryption::{EncryptionError, SecretCipher};
use services::accounting::{AccountingClient, AccountingError, AccountingSettings, OrganisationClient};
use services::peer_client::{PeerHttp, PeerSettingError};
use services::peer_fault::PeerFault;
use store::queries::Queries;
use store::rows::LoadError;

/// Path of the OAuth callback to which the provider redirects.
const CALLBACK_PATH: &str = "/api/v1/integrations/accounting/callback";
/// Number of documents read per query.
const DOCUMENTS_PER_LOOK: u64 = 50;
/// Pause after a failed round.
const AFTER_FAILURE: Duration = Duration::from_secs(5);
/// Maximum difference between two amounts that are treated as equal: half a cent.
const SAME_AMOUNT: f64 = 0.005;

/// Declaration of the accounting integration.
pub(super) static TYPE: IntegrationType = IntegrationType {
    name: "accounting",
    title: "Accounting",
    is_on: |config| !config.accounting.client_id.is_empty(),
    test: |client, config| {
        Box::pin(async move { client_of(client.clone(), config).map_err(PeerFault::from)?.check().await })
    },
    prepare: |config, http| {
        let (client, every) = (client_of(http.clone(), config)?, config.accounting.interval_seconds.duration());
        Ok(Box::new(move |sources| Arc::new(PostingWork::new(client, every, sources))))
    },
};

fn client_of(http: impl Into<PeerHttp>, config: &Config) -> Result<AccountingClient, PeerSettingError> {
    let back = format!("{}{CALLBACK_PATH}", config.public_url().trim_end_matches('/'));
    AccountingClient::new(http, AccountingSettings::of(&config.accounting), &back)
}

/// Returns the ID of a document's posting.
fn posting_of(document: Id) -> Id {
    Id(Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("posting {document}").as_bytes()))
}

/// Signal that starts the accounting work immediately instead of at the next interval.
#[derive(Clone, Debug, Default)]
pub struct AccountingWake(Arc<Notify>);

impl AccountingWake {
    /// Starts the work because the system has been connected or a posting must be retried.
    pub fn wake(&self) {
        self.0.notify_one();
    }
}

/// Access to the accounting system for an admin who is connecting to it.
pub struct AccountingConnector<'a> {
    client: AccountingClient,
    line: &'a SystemLine,
}

impl<'a> AccountingConnector<'a> {
    pub(super) fn new(http: &PeerHttp, config: &Config, line: &'a SystemLine) -> Result<Self, PeerSettingError> {
        Ok(Self { client: client_of(http.clone(), config)?, line })
    }

    /// Returns the URL of the consent page on which the admin grants access; `verifier` is the PKCE code verifier for
    /// this authorization.
    pub fn consent_page(&self, state: &str, verifier: &str) -> Url {
        self.client.consent_page(state, verifier)
    }

    /// Exchanges the authorization code for the first tokens. Returns the organisation they grant access to, and the
    /// tokens encrypted for storage.
    pub async fn connect(
        &self,
        code: &str,
        verifier: &str,
        (cipher, now): (&SecretCipher, Timestamp),
    ) -> Result<(Tenant, SealedTokens), AccountingError> {
        let tokens = call(self.line, self.client.first_tokens(code, verifier)).await?;
        let all = call(self.line, self.client.organisations(&tokens.access)).await?;
        let first = all.into_iter().next();
        let first = first.ok_or_else(|| AccountingError::Refused("the account has no organisation".to_owned()))?;
        Ok((Tenant { id: first.id, name: first.name }, tokens::sealed(cipher, &tokens, now)))
    }
}

/// Makes a call over the connection. Only a missing response is treated as a connection failure.
async fn call<T>(
    line: &SystemLine,
    request: impl Future<Output = Result<T, AccountingError>>,
) -> Result<T, AccountingError> {
    let answered = line.call(async {
        match request.await {
            Err(AccountingError::Unavailable(fault)) => Err(fault),
            other => Ok(other),
        }
    });
    answered.await.unwrap_or_else(|fault| Err(fault.into()))
}

/// Reason that a round ended early.
#[derive(Debug, thiserror::Error)]
enum PostingError {
    #[error(transparent)]
    Books(#[from] AccountingError),
    #[error("cannot be written: {0}")]
    Ask(#[from] AskError),
    #[error("cannot be read: {0}")]
    Load(#[from] LoadError),
    #[error(transparent)]
    Sealed(#[from] EncryptionError),
}

/// Work that remains after a round.
enum RemainingPostings {
    /// Nothing can currently be posted.
    Nothing,
    /// More documents can be posted.
    More,
}

/// Background work that posts documents to the accounting system.
struct PostingWork {
    client: AccountingClient,
    every: Duration,
    accounting: Directory<Accounting>,
    postings: Directory<Posting>,
    queries: Queries,
    cipher: Arc<SecretCipher>,
    environment: Arc<Environment>,
    wake: AccountingWake,
}

impl PostingWork {
    fn new(client: AccountingClient, every: Duration, sources: &Sources) -> Self {
        Self {
            client,
            every,
            accounting: sources.accounting.clone(),
            postings: sources.postings.clone(),
            queries: sources.queries.clone(),
            cipher: sources.cipher.clone(),
            environment: sources.environment.clone(),
            wake: sources.accounting_wake.clone(),
        }
    }

    /// Returns the stored state of the accounting connection.
    async fn stored_state(&self) -> Result<Option<Accounting>, PostingError> {
        Ok(self.accounting.read(Id::ONLY).await?.and_then(|versioned| versioned.state.clone()))
    }

    async fn tell(&self, command: AccountingCommand) -> Result<(), AskError> {
        self.accounting.ask(Id::ONLY, CommandOrigin::system(), command).await.map(drop)
    }

    async fn round(&self, line: &SystemLine) -> Result<RemainingPostings, PostingError> {
        let accounting = self.stored_state().await?;
        if let Some(sealed) = accounting.as_ref().and_then(|accounting| accounting.to_revoke.as_deref()) {
            let outcome = match self.cipher.decrypt(sealed) {
                Ok(refresh) => call(line, self.client.revoke(&refresh)).await,
                Err(_) => Ok(()),
            };
            match outcome {
                Ok(()) => self.tell(AccountingCommand::Revoked).await?,
                // A former connection does not hold up the present one.
                Err(_) if accounting.as_ref().is_some_and(|accounting| accounting.link.is_some()) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let lost = accounting.as_ref().and_then(|accounting| accounting.lost.clone());
        let Some((link, since)) = accounting.and_then(|accounting| accounting.link.zip(accounting.since)) else {
            line.note(lost.is_none().then(|| "not connected: an admin must connect it".to_owned()));
            line.needs_person(lost);
            return Ok(RemainingPostings::Nothing);
        };
        line.needs_person(None);
        let tenant = link.tenant.id.clone();
        let Some(access) = self.access(line, &link, false).await? else { return Ok(RemainingPostings::More) };
        let outcome = match Box::pin(self.post_due(line, &self.client.books(&tenant, &access)?, since)).await {
            Err(PostingError::Books(AccountingError::Token)) => {
                // It was given up there before its time.
                let Some(link) = self.stored_state().await?.and_then(|accounting| accounting.link) else {
                    return Ok(RemainingPostings::More);
                };
                let Some(access) = self.access(line, &link, true).await? else { return Ok(RemainingPostings::More) };
                Box::pin(self.post_due(line, &self.client.books(&tenant, &access)?, since)).await
            }
            outcome => outcome,
        }?;
        let refused = self.queries.refused_postings().await?;
        line.note(match refused {
            0 => None,
            1 => Some("1 document was rejected and needs to be reviewed".to_owned()),
            _ => Some(format!("{refused} documents were rejected and need to be reviewed")),
        });
        Ok(outcome)
    }

    async fn post_due(
        &self,
        line: &SystemLine,
        books: &OrganisationClient<'_>,
        since: Timestamp,
    ) -> Result<RemainingPostings, PostingError> {
        let due = self.queries.unposted(since, DOCUMENTS_PER_LOOK).await?;
        let mut posted = 0;
        for id in due {
            let document = match self.queries.document(id).await {
                Err(LoadError::Damaged(damaged)) => {
                    tracing::error!(%damaged, "cannot read a document; not sending it to the accounting system");
                    None
                }
                read => read?,
            };
            if let Some(document) = document {
                self.post(line, books, &document).await?;
                posted += 1;
            }
        }
        Ok(if posted == DOCUMENTS_PER_LOOK { RemainingPostings::More } else { RemainingPostings::Nothing })
    }

    /// Posts a document to the accounting system.
    async fn post(
        &self,
        line: &SystemLine,
        books: &OrganisationClient<'_>,
        document: &IssuedDocument,
    ) -> Result<(), PostingError> {
        let id = posting_of(document.id);
        let existing = self.postings.read(id).await?.and_then(|versioned| versioned.state.clone());
        let posting = match existing {
            Some(posting) => posting,
            None => {
                let begin = PostingCommand::Begin(Box::new(document.clone()));
                *self.postings.create_as(id, CommandOrigin::system(), begin).await?.answer
            }
        };
        let round = posting.round;
        let outcome = match self.send(line, books, document, &posting).await {
            Ok(remote_id) => PostingCommand::Posted { round, remote_id },
            Err(PostingError::Books(AccountingError::Refused(words))) => PostingCommand::Refused { round, words },
            Err(error) => return Err(error),
        };
        self.postings.ask(id, CommandOrigin::system(), outcome).await?;
        Ok(())
    }

    /// Finds or creates a document in the accounting system and returns its ID there.
    async fn send(
        &self,
        line: &SystemLine,
        books: &OrganisationClient<'_>,
        document: &IssuedDocument,
        posting: &Posting,
    ) -> Result<String, PostingError> {
        if document.kind == DocumentKind::CreditNote
            && let Some(invoice) = document.preceding
            && let Some(before) =
                self.postings.read(posting_of(invoice)).await?.and_then(|versioned| versioned.state.clone())
            && before.state != PostingState::Posted
        {
            let words = format!("{}, which the document credits, is not in the accounting system", before.number);
            return Err(AccountingError::Refused(words).into());
        }
        let (paper, key) = (AccountingDocument::of(document), posting.key());
        let existing = match call(line, books.paper(paper.kind, &paper.number)).await? {
            Some(existing) => {
                let total: f64 = paper.amount(paper.total_cents).parse().unwrap_or_default();
                if let Some(there) = existing.total.filter(|there| (there - total).abs() >= SAME_AMOUNT) {
                    let words =
                        format!("the accounting system already has a different document {} for {there}", paper.number);
                    return Err(AccountingError::Refused(words).into());
                }
                existing
            }
            None => {
                let contact = match call(line, books.contact(&paper)).await? {
                    Some(contact) => contact,
                    None => call(line, books.create_contact(&paper, &format!("{key}-contact"))).await?,
                };
                call(line, books.create_paper(&paper, &contact, &key)).await?
            }
        };
        // What is due there tells whether the payment was booked before.
        let unpaid = existing.due.is_some_and(|due| due >= SAME_AMOUNT);
        if books.takes_payments() && unpaid && self.was_paid(document).await? {
            call(line, books.create_payment(&paper, &existing.id, &format!("{key}-payment"))).await?;
        }
        Ok(existing.id)
    }

    /// Returns whether the document is an invoice that has been paid, regardless of later refunds.
    async fn was_paid(&self, document: &IssuedDocument) -> Result<bool, LoadError> {
        if document.kind != DocumentKind::Invoice {
            return Ok(false);
        }
        let invoice = self.queries.snapshot::<Invoice>(document.invoice_id).await?;
        Ok(invoice.state.is_some_and(|invoice| invoice.paid_at.is_some()))
    }
}

#[async_trait]
impl IntegrationWork for PostingWork {
    async fn run(&self, line: &SystemLine) {
        loop {
            line.ready().await;
            let wait = match self.round(line).await {
                Ok(RemainingPostings::Nothing) => self.every,
                Ok(RemainingPostings::More) => continue,
                Err(PostingError::Books(AccountingError::Busy(seconds))) => {
                    line.note(Some(format!("rate limit reached; next try in {seconds} s")));
                    sleep(Duration::from_secs(seconds)).await;
                    continue;
                }
                Err(error) => {
                    tracing::debug!(%error, "sending documents to the accounting system failed");
                    AFTER_FAILURE.min(self.every)
                }
            };
            tokio::select! {
                biased; // somebody who asks before the time that passes
                () = self.wake.0.notified() => {}
                () = sleep(wait) => {}
            }
        }
    }
}
