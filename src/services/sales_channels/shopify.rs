//! Shopify: order webhooks, and fulfillments through the REST Admin API.

use std::collections::BTreeMap;

use async_trait::async_trait;
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::rest::{ShopAnswer, ask, look};
use super::values::{
    address, cents, email, id, malformed, moment, notes, quantity, rate_bps, read_body, split_content, title,
    whole_bps, word,
};
use super::{ChannelType, MessageError, MessageType, ShipmentNotice, ShipmentResponse, ShopClient};
use crate::peer_client::{PeerClient, PeerHttp, PeerSettingError, TokenForm};
use crate::peer_fault::PeerFault;
use domain::channel_order::{MAX_SOLD_LINES, ShopOrderUpdate, SoldContent, SoldLine};

/// Admin API version to use.
const API_VERSION: &str = "2026-07";
/// Access token header.
const TOKEN_HEADER: &str = "X-Shopify-Access-Token";
/// States of a fulfillment order in which units can still be fulfilled.
const OPEN_STATES: [&str; 3] = ["open", "in_progress", "scheduled"];

pub(super) const TYPE: ChannelType = ChannelType {
    word: "shopify",
    messages: Some(MessageType { signature_header: "X-Shopify-Hmac-Sha256", read, is_trial: |_, _| false }),
    connect: Some(|http, url, token| Ok(Box::new(Admin::new(http, url, token)?))),
};

/// Parses an order webhook; webhooks with other topics are ignored.
fn read(headers: &HeaderMap, body: &[u8]) -> Result<Option<ShopOrderUpdate>, MessageError> {
    let topic = headers.get("x-shopify-topic").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let used = ["orders/create", "orders/paid", "orders/updated", "orders/edited", "orders/cancelled"];
    if !used.contains(&topic) {
        return Ok(None);
    }
    let order = read_body(body)?;
    // A message about an edit carries the edit alone.
    if order.get("line_items").is_none() {
        return Ok(None);
    }
    news(&order, topic).map(Some)
}

fn news(order: &Value, topic: &str) -> Result<ShopOrderUpdate, MessageError> {
    let external_id = id(&order["id"]).ok_or_else(|| malformed("id"))?;
    let status = order["financial_status"].as_str().unwrap_or_default();
    let currency = order["currency"].as_str().unwrap_or_default().to_lowercase();
    let transactions = list(&order["refunds"]).iter().flat_map(|refund| list(&refund["transactions"]));
    let refunds = transactions.filter(|one| one["kind"] == "refund" && one["status"] == "success");
    let refunded_cents = refunds.filter_map(|one| cents(&one["amount"], &currency)).sum();
    let was_paid = matches!(status, "paid" | "partially_refunded" | "refunded");
    let (content, unreadable) = split_content(content(order, &currency));
    Ok(ShopOrderUpdate {
        number: word(&order["name"]).unwrap_or_else(|| external_id.clone()),
        external_id,
        changed_at: moment(&order["updated_at"]).ok_or_else(|| malformed("updated_at"))?,
        paid: was_paid || topic == "orders/paid",
        cancelled: topic == "orders/cancelled" || !order["cancelled_at"].is_null(),
        refunded_cents,
        content,
        unreadable,
    })
}

fn content(order: &Value, currency: &str) -> Result<SoldContent, MessageError> {
    let lines = list(&order["line_items"]);
    if lines.is_empty() || lines.len() > MAX_SOLD_LINES {
        return Err(malformed("line_items"));
    }
    let lines: Option<Vec<SoldLine>> = lines.iter().map(|one| line(one, currency)).collect();
    let shipping = list(&order["shipping_lines"]);
    let shipping_rate = shipping.first().map_or(0, |line| rate(&line["tax_lines"]));
    let amount = |name: &str| match &order[name] {
        Value::Null => Some(0),
        value => cents(value, currency),
    };
    let to = if order["shipping_address"].is_object() { &order["shipping_address"] } else { &order["billing_address"] };
    let region = if to["province_code"].is_string() { "province_code" } else { "province" };
    Ok(SoldContent {
        lines: lines.ok_or_else(|| malformed("line_items"))?,
        currency: currency.to_owned(),
        taxes_included: order["taxes_included"].as_bool().unwrap_or(false),
        shipping_cents: shipping.iter().filter_map(|line| cents(&line["price"], currency)).sum(),
        shipping_tax_rate_bps: shipping_rate,
        discount_cents: amount("total_discounts").ok_or_else(|| malformed("total_discounts"))?,
        total_cents: cents(&order["total_price"], currency).ok_or_else(|| malformed("total_price"))?,
        customer_email: email(&order["email"]).or_else(|| email(&order["contact_email"])),
        address: address(to, ["address1", "address2", "city", region, "zip", "country_code"]),
        recipient: word(&to["name"]),
        notes: notes(&order["note"]),
    })
}

fn line(of: &Value, currency: &str) -> Option<SoldLine> {
    Some(SoldLine {
        line_id: id(&of["id"])?,
        variant: id(&of["variant_id"]),
        code: word(&of["sku"]),
        title: title(&of["name"]).or_else(|| title(&of["title"])).unwrap_or_else(|| "(no title)".to_owned()),
        quantity: quantity(&of["quantity"])?,
        unit_price_cents: cents(&of["price"], currency)?,
        tax_rate_bps: if of["taxable"] == false { 0 } else { rate(&of["tax_lines"]) },
    })
}

fn rate(tax_lines: &Value) -> i64 {
    whole_bps(list(tax_lines).iter().map(|line| rate_bps(&line["rate"], 1.0)))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Client for the Admin API of one shop.
struct Admin {
    peer: PeerClient,
}

impl Admin {
    fn new(http: PeerHttp, url: &str, token: &str) -> Result<Self, PeerSettingError> {
        Ok(Self { peer: PeerClient::new(http, url, TokenForm::Header(TOKEN_HEADER), token)? })
    }

    fn call(&self, method: Method, path: &str) -> RequestBuilder {
        self.peer.below(method, &format!("admin/api/{API_VERSION}/{path}"))
    }

    /// Returns, by line ID, the number of units that the shop has not yet recorded under the tracking number.
    async fn unknown<'n>(&self, notice: &ShipmentNotice<'n>) -> Result<BTreeMap<&'n str, u64>, PeerFault> {
        let path = format!("orders/{}/fulfillments.json", notice.external_id);
        let response = look(&self.peer, self.call(Method::GET, &path)).await?;
        let number = notice.shipment.tracking_number.as_str();
        let of_it = |one: &&Value| {
            one["status"] != "cancelled" && one["tracking_number"].as_str().unwrap_or_default() == number
        };
        let lines = notice.lines.iter().map(|line| line.line_id.as_str());
        let mut unknown: BTreeMap<&str, u64> = lines.zip(notice.so_far.iter().copied()).collect();
        for item in list(&response["fulfillments"]).iter().filter(of_it).flat_map(|one| list(&one["line_items"])) {
            let (line, quantity) = (id(&item["id"]).unwrap_or_default(), item["quantity"].as_u64().unwrap_or(0));
            if let Some(left) = unknown.get_mut(line.as_str()) {
                *left = left.saturating_sub(quantity);
            }
        }
        unknown.retain(|_, left| *left > 0);
        Ok(unknown)
    }

    /// Returns the number of the given units that each fulfillment order can still fulfill; each fulfillment order
    /// belongs to one location.
    async fn open(
        &self,
        notice: &ShipmentNotice<'_>,
        mut unshipped: BTreeMap<&str, u64>,
    ) -> Result<BTreeMap<u64, Vec<Value>>, PeerFault> {
        let path = format!("orders/{}/fulfillment_orders.json", notice.external_id);
        let response = look(&self.peer, self.call(Method::GET, &path)).await?;
        let mut open: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
        let is_open = |one: &&Value| one["status"].as_str().is_some_and(|status| OPEN_STATES.contains(&status));
        for order in list(&response["fulfillment_orders"]).iter().filter(is_open) {
            let Some(order_id) = order["id"].as_u64() else { continue };
            for item in list(&order["line_items"]) {
                let line = id(&item["line_item_id"]).unwrap_or_default();
                let Some(remaining) = unshipped.get_mut(line.as_str()) else { continue };
                let quantity = item["fulfillable_quantity"].as_u64().unwrap_or(0).min(*remaining);
                if quantity > 0 {
                    *remaining -= quantity;
                    open.entry(order_id).or_default().push(json!({"id": item["id"], "quantity": quantity}));
                }
            }
        }
        Ok(open)
    }
}

#[async_trait]
impl ShopClient for Admin {
    async fn tell(&self, notice: &ShipmentNotice<'_>) -> Result<ShipmentResponse, PeerFault> {
        let unknown = self.unknown(notice).await?;
        // Half of a set is nothing that the shop counts.
        if unknown.is_empty() {
            return Ok(ShipmentResponse::Known);
        }
        // What is not open there was fulfilled by hand.
        let shipment = notice.shipment;
        for (order, items) in self.open(notice, unknown).await? {
            let of_order = json!([{"fulfillment_order_id": order, "fulfillment_order_line_items": items}]);
            let mut fulfillment = json!({"line_items_by_fulfillment_order": of_order, "notify_customer": true});
            if !shipment.tracking_number.is_empty() {
                fulfillment["tracking_info"] = json!({"number": shipment.tracking_number, "company": shipment.carrier});
            }
            let call = self.call(Method::POST, "fulfillments.json").json(&json!({"fulfillment": fulfillment}));
            if let ShopAnswer::Refused(words) = ask(&self.peer, call).await? {
                // An earlier call whose answer was lost may have got through meanwhile.
                let is_known = self.unknown(notice).await?.is_empty();
                return Ok(if is_known { ShipmentResponse::Known } else { ShipmentResponse::Refused(words) });
            }
        }
        Ok(ShipmentResponse::Known)
    }
}
