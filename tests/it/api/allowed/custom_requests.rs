//! Operations of operators and admins on custom requests.

use serde_json::json;

use super::Walk;
use crate::billing::intake::submit_request;
use crate::support::App;

impl Walk {
    pub(super) async fn custom_requests(&self, app: &App) {
        let request = submit_request(app).await;
        self.ok("PATCH /api/custom-requests/{id}", &request, json!({"internalNotes": "called back"})).await;
        self.ok("POST /api/custom-requests/{id}/quote", &request, json!({})).await;
        self.ok("POST /api/custom-requests/{id}/close", &request, json!({})).await;
    }
}
