//! Operations of operators and admins on exports and on the accounting system.

use serde_json::{Value, json};
use simulator::accounting::AccountingSystem;

use super::super::id;
use super::Walk;
use crate::billing::customer;
use crate::integrations::accounting::{connected, paid};
use crate::support::{App, until};

/// Creates an export and waits until it is ready; returns its id.
pub(super) async fn export(app: &App) -> String {
    let export = id(&app.post("/api/exports", &json!({"type": "invoices"})).await.expect(201));
    until("the export", || async {
        let body = app.get(&format!("/api/exports/{export}")).await.expect(200);
        (body["state"] == "ready").then_some(())
    })
    .await;
    export
}

impl Walk {
    /// Creates an export and an invoice that the accounting system rejects; an admin then disconnects the accounting
    /// system.
    pub(super) async fn books(&self, app: &App, books: &AccountingSystem) {
        self.ok("POST /api/exports", "", json!({"type": "invoices"})).await;
        books.refuse(Some("the year is closed"));
        connected(books, &customer(app, "boss@example.org").await).await;
        let invoice = paid(app, "ann@example.org").await;
        let refused = until("the refusal", || async {
            let list = app.get("/api/accounting/postings?state=refused").await.expect(200);
            list["postings"].as_array()?.iter().find(|one| one["invoiceId"] == invoice).map(id)
        })
        .await;
        self.ok("POST /api/accounting/postings/{id}/retry", &refused, Value::Null).await;
        if self.role == "admin" {
            self.ok("POST /api/integrations/accounting/disconnect", "", Value::Null).await;
        }
    }
}
