//! Operations of operators and admins on invoices.

use serde_json::{Value, json};

use super::super::id;
use super::Walk;

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
    }
}
