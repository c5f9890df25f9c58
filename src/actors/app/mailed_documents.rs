//! Documents attached to emails. They are rendered when the email is sent, so a queued email contains no PDF.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::documents::{DocumentError, InvoiceDocuments};
use crate::mails::{DocumentSource, EnclosedDocument};
use domain::invoice::Invoice;
use domain::mail::part::AttachedDocument;
use kernel::directory::Directory;

/// Source that finds and renders the documents that emails refer to.
pub struct MailedDocuments {
    /// PDF renderer.
    pub documents: Arc<InvoiceDocuments>,
    /// Invoices with their issued documents and payments.
    pub invoices: Directory<Invoice>,
}

impl MailedDocuments {
    async fn find(&self, which: AttachedDocument) -> Result<Option<EnclosedDocument>, DocumentError> {
        let state = self.invoices.read(which.invoice).await?;
        let Some(invoice) = state.as_ref().and_then(|state| state.state.as_ref()) else { return Ok(None) };
        let Some(whole) = self.documents.whole(invoice, which.document).await? else { return Ok(None) };
        let (kind, number) = (whole.document.kind, whole.document.number_text());
        let pdf = match self.documents.pdf(&whole).await {
            Ok(pdf) => Some(pdf),
            Err(DocumentError::Off) => None,
            // Another try would not help, and the mail is worth more than its enclosure.
            Err(DocumentError::Render(error)) => {
                tracing::error!(%number, %error, "cannot render a PDF; sending the email without it");
                None
            }
            Err(error) => return Err(error),
        };
        Ok(Some(EnclosedDocument { kind, number, pdf }))
    }
}

impl DocumentSource for MailedDocuments {
    fn enclosed(&self, which: AttachedDocument) -> BoxFuture<'_, Result<Option<EnclosedDocument>, String>> {
        async move { self.find(which).await.map_err(|error| error.to_string()) }.boxed()
    }
}
