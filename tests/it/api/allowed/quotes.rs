//! Operations of operators and admins on quotes.

use serde_json::{Value, json};

use super::super::id;
use super::super::quotes::models::upload;
use super::Walk;
use crate::whole::cube;

impl Walk {
    pub(super) async fn quotes(&self, sku: &str) {
        let new = json!({"customerEmail": "ann@example.org", "lines": [{"quantity": 1, "skuId": sku}]});
        let quote = id(&self.ok("POST /api/quotes", "", new.clone()).await);
        self.ok("PATCH /api/quotes/{id}", &quote, json!({"notes": "In black."})).await;
        self.ok("POST /api/quotes/{id}/send", &quote, json!({})).await;
        self.ok("POST /api/quotes/{id}/decline", &quote, json!({"reason": null})).await;
        let draft = id(&self.ok("POST /api/quotes", "", new).await);
        self.ok("DELETE /api/quotes/{id}", &draft, Value::Null).await;
        let answer = upload(&self.client, "/api/quotes/models", "cube.stl", cube().into_bytes(), &[]).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        self.done.lock().unwrap().insert("POST /api/quotes/models".to_owned());
    }
}
