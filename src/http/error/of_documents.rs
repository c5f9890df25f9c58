//! Error responses for failures related to documents and to the object storage that contains them.

use super::ApiError;
use actors::app::documents::DocumentError;
use domain::refusal::Refusal;
use services::object_storage::StorageError;

/// `Retry-After` value, in seconds, while the object storage does not respond.
const RETRY_SECONDS: u32 = 10;
/// `Retry-After` value, in seconds, while PDF generation is disabled.
const RETRY_WHEN_OFF_SECONDS: u32 = 300;

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Missing => Refusal::not_found("document").into(),
            StorageError::Silent(_) | StorageError::Unavailable(_) => {
                tracing::warn!(%error, "object storage does not respond");
                Self::unavailable("storage_unavailable", "object storage does not respond", RETRY_SECONDS)
            }
            StorageError::Denied(_) | StorageError::Failed(_) | StorageError::TooLarge => Self::internal(error),
        }
    }
}

impl From<DocumentError> for ApiError {
    fn from(error: DocumentError) -> Self {
        match error {
            DocumentError::Off => Self::unavailable(
                "pdf_not_configured",
                "PDF generation is disabled (pdf.enabled)",
                RETRY_WHEN_OFF_SECONDS,
            ),
            DocumentError::Storage(error) => error.into(),
            DocumentError::Load(error) => error.into(),
            DocumentError::Render(_) | DocumentError::BrokeOff => Self::internal(error),
        }
    }
}
