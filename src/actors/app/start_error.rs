//! Errors that prevent the app from starting.

use ractor::SpawnErr;

use documents::DesignError;
use platform::http::BuildError;
use platform::secrets::encryption::EncryptionError;
use services::mail::MailError;
use services::object_storage::StorageError;
use services::payments::ProcessorError;
use store::connect::OpenError;
use store::restoring::RestoringError;
use store::rows::LoadError;

/// Reason that the app failed to start.
#[derive(Debug, thiserror::Error)]
pub enum ShopStartError {
    /// The database cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Data in the database cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The HTTP clients for printers and services cannot be built.
    #[error(transparent)]
    Http(#[from] BuildError),
    /// The key that encrypts secrets cannot be used.
    #[error("SECRETS_KEY: {0}")]
    Encryption(#[from] EncryptionError),
    /// Email is misconfigured.
    #[error(transparent)]
    Mail(#[from] MailError),
    /// The payment processor is misconfigured.
    #[error(transparent)]
    Payments(#[from] ProcessorError),
    /// The Redis address cannot be used.
    #[error("REDIS_URL: {0}")]
    Redis(#[from] redis::RedisError),
    /// The directory for files, or for copies of them, cannot be used.
    #[error("the file storage cannot be used: {0}")]
    Files(#[from] std::io::Error),
    /// The design of invoices and emails cannot be used.
    #[error("invalid design of invoices and emails: {0}")]
    Design(#[from] DesignError),
    /// The bucket for PDFs cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The bucket for files cannot be used.
    #[error("the bucket for files, {address}, cannot be used: {source}")]
    FilesBucket {
        /// Address of the place in the bucket.
        address: String,
        /// Response from the service, or its absence.
        source: StorageError,
    },
    /// The configured catalogue provider cannot be used.
    #[error("catalog: {0}")]
    Catalog(String),
    /// A restore could not be recorded.
    #[error("the backup was restored, but the restore could not be recorded: {0}")]
    Restore(#[from] RestoringError),
    /// An actor failed to start.
    #[error("an actor did not start: {0}")]
    Spawn(#[from] SpawnErr),
}
