//! Operations of operators and admins on sales channels.

use serde_json::{Value, json};

use super::super::id;
use super::Walk;
use crate::support::{App, Client};

const NEW: fn() -> Value = || json!({"kind": "csv", "name": "Fair"});

async fn import(client: &Client, channel: &str) -> u16 {
    let request = client.request("POST", &format!("/api/sales-channels/{channel}/import"));
    let file = "order,variant,quantity,unit_price\n5,VASE,1,9.00\n";
    client.send(request.header("Content-Type", "text/csv").body(file)).await.status
}

/// Creates a sales channel and imports one order from it.
pub(super) async fn some_order(app: &App) {
    let channel = id(&app.post("/api/sales-channels", &NEW()).await.expect(201));
    assert_eq!(import(app, &channel).await, 200);
}

impl Walk {
    pub(super) async fn channels(&self, app: &App, sku: &str) {
        let channel = match self.role {
            "admin" => id(&self.ok("POST /api/sales-channels", "", NEW()).await),
            _ => id(&app.post("/api/sales-channels", &NEW()).await.expect(201)),
        };
        let variants = json!({"variants": [{"variant": "VASE", "skuId": sku}]});
        self.ok("POST /api/sales-channels/{id}/variants", &channel, variants).await;
        self.ok("DELETE /api/sales-channels/{id}/variants/{variantId}", &channel, Value::Null).await;
        assert_eq!(import(&self.client, &channel).await, 200);
        self.done.lock().unwrap().insert("POST /api/sales-channels/{id}/import".to_owned());
        let orders = self.client.get(&format!("/api/channel-orders?channelId={channel}")).await.expect(200);
        self.ok("POST /api/channel-orders/{id}/retry", &id(&orders["channelOrders"][0]), json!({})).await;
        if self.role == "admin" {
            self.ok("PATCH /api/sales-channels/{id}", &channel, json!({"active": false})).await;
            self.ok("DELETE /api/sales-channels/{id}", &channel, Value::Null).await;
        }
    }
}
