//! Operations of operators and admins on invoices.

use serde_json::{Value, json};
use simulator::sink::{Sink, SinkMode};

use super::super::id;
use super::Walk;
use crate::support::app::Builder;
use crate::support::until;

/// Lets the shop send emails through a service that rejects each of them, until the service is dropped.
pub(super) async fn without_emails(shop: Builder) -> (Builder, Sink) {
    let post = Sink::start().await.unwrap();
    post.set_mode(SinkMode::Status(422));
    (shop.env("EMAIL_API_KEY", "key").env("PRINTFLOOR_MAIL__API_URL", post.url()), post)
}

impl Walk {
    pub(super) async fn invoices(&self) {
        let new = json!({
            "customerName": "Ann Example", "customerEmail": "ann@example.org",
            "lineItems": [{"description": "Design", "quantity": 2, "unitPriceCents": 6000}],
        });
        let invoice = id(&self.ok("POST /api/invoices", "", new.clone()).await);
        self.ok("PATCH /api/invoices/{id}", &invoice, json!({"discountCents": 100, "notes": null})).await;
        self.ok("POST /api/invoices/{id}/send", &invoice, json!({})).await;
        self.ok("POST /api/invoices/{id}/pdf", &invoice, Value::Null).await;
        self.ok("POST /api/invoices/{id}/pay-link", &invoice, json!({})).await;
        self.ok("DELETE /api/invoices/{id}/pay-link", &invoice, Value::Null).await;
        self.ok("POST /api/invoices/{id}/mark-paid", &invoice, json!({"method": "cash"})).await;
        self.ok("POST /api/invoices/{id}/refund", &invoice, json!({"amountCents": 100})).await;
        let draft = id(&self.ok("POST /api/invoices", "", new).await);
        self.ok("POST /api/invoices/{id}/void", &draft, json!({})).await;
        self.emails().await;
    }

    /// Dismisses an email that was not delivered, puts it back and sends it again.
    async fn emails(&self) {
        let email = until("an email to be rejected", || async {
            let undelivered = self.client.get("/api/emails").await.expect(200);
            undelivered["emails"].as_array()?.first().map(id)
        })
        .await;
        for act in ["dismiss", "reopen", "send-again"] {
            self.ok(&format!("POST /api/emails/{{id}}/{act}"), &email, json!({})).await;
        }
    }
}
