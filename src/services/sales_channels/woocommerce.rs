//! `WooCommerce`: order webhooks, and order notes and status through its REST API.

use std::collections::BTreeMap;

use async_trait::async_trait;
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::rest::{ShopAnswer, ask, look};
use super::values::{
    address, cents, email, id, malformed, moment, notes, one_line, quantity, rate_bps, read_body, split_content, title,
    whole_bps, word,
};
use super::{ChannelType, MessageError, MessageType, ShipmentNotice, ShipmentResponse, ShopClient};
use crate::peer_client::{PeerClient, PeerHttp, PeerSettingError, TokenForm};
use crate::peer_fault::PeerFault;
use domain::channel_order::{MAX_SOLD_LINES, ShopOrderUpdate, SoldContent, SoldLine};

/// Maximum size, in bytes, of the request that tests a new webhook's URL: `webhook_id=` and a number.
const MAX_TRIAL_BYTES: usize = 40;

pub(super) const TYPE: ChannelType = ChannelType {
    word: "woocommerce",
    messages: Some(MessageType { signature_header: "X-WC-Webhook-Signature", read, is_trial }),
    connect: Some(|http, url, token| Ok(Box::new(WooStore::new(http, url, token)?))),
};

/// Returns whether a request is the unsigned test request that the shop sends when a webhook is saved. If the response
/// is not 200, the shop disables the webhook.
fn is_trial(headers: &HeaderMap, body: &[u8]) -> bool {
    let number = body.strip_prefix(b"webhook_id=").filter(|number| !number.is_empty());
    let plain = number.is_some_and(|number| number.iter().all(u8::is_ascii_digit));
    plain && body.len() <= MAX_TRIAL_BYTES && !headers.contains_key(TYPE_SIGNATURE)
}

const TYPE_SIGNATURE: &str = "x-wc-webhook-signature";

/// Parses an order webhook; webhooks with other topics are ignored.
fn read(headers: &HeaderMap, body: &[u8]) -> Result<Option<ShopOrderUpdate>, MessageError> {
    let topic = headers.get("x-wc-webhook-topic").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !["order.created", "order.updated", "order.restored"].contains(&topic) {
        return Ok(None);
    }
    let order = read_body(body)?;
    let external_id = id(&order["id"]).ok_or_else(|| malformed("id"))?;
    let status = order["status"].as_str().ok_or_else(|| malformed("status"))?;
    let currency = order["currency"].as_str().unwrap_or_default().to_lowercase();
    let changed_at = moment(&order["date_modified_gmt"]).ok_or_else(|| malformed("date_modified_gmt"))?;
    let refunds = list(&order["refunds"]).iter().filter_map(|refund| cents(&refund["total"], &currency));
    let (content, unreadable) = split_content(content(&order, &currency));
    let back: i64 = refunds.map(i64::abs).sum();
    let total_cents = content.as_ref().map_or(back, |content| content.total_cents);
    Ok(Some(ShopOrderUpdate {
        number: word(&order["number"]).map_or_else(|| external_id.clone(), |number| format!("#{number}")),
        external_id,
        changed_at,
        paid: matches!(status, "processing" | "completed" | "refunded") || !order["date_paid_gmt"].is_null(),
        cancelled: status == "cancelled",
        refunded_cents: if status == "refunded" { total_cents } else { back },
        content,
        unreadable,
    }))
}

fn content(order: &Value, currency: &str) -> Result<SoldContent, MessageError> {
    let percents = list(&order["tax_lines"]).iter();
    let rates: BTreeMap<String, f64> =
        percents.filter_map(|line| Some((id(&line["rate_id"])?, rate_bps(&line["rate_percent"], 100.0)))).collect();
    let rate = |of: &Value| {
        let taxed =
            list(&of["taxes"]).iter().filter(|tax| cents(&tax["total"], currency).is_none_or(|cents| cents != 0));
        whole_bps(taxed.filter_map(|tax| rates.get(&id(&tax["id"])?).copied()))
    };
    let lines = list(&order["line_items"]);
    if lines.is_empty() || lines.len() > MAX_SOLD_LINES {
        return Err(malformed("line_items"));
    }
    let line = |of: &Value| {
        let quantity = quantity(&of["quantity"])?;
        // What one line costs before discounts; its price is rounded there already.
        let all = cents(&of["subtotal"], currency).filter(|cents| *cents >= 0)?;
        Some(SoldLine {
            line_id: id(&of["id"])?,
            variant: id(&of["variation_id"]).or_else(|| id(&of["product_id"])),
            code: word(&of["sku"]),
            title: title(&of["name"]).unwrap_or_else(|| "(no name)".to_owned()),
            quantity,
            unit_price_cents: (all + i64::from(quantity) / 2) / i64::from(quantity),
            tax_rate_bps: rate(of),
        })
    };
    let lines: Option<Vec<SoldLine>> = lines.iter().map(line).collect();
    let amount = |name: &str| cents(&order[name], currency);
    let shipping_rate = list(&order["shipping_lines"]).first().map_or(0, rate);
    let to = if word(&order["shipping"]["address_1"]).is_some() { &order["shipping"] } else { &order["billing"] };
    let names = [&to["first_name"], &to["last_name"]].map(|name| word(name).unwrap_or_default());
    Ok(SoldContent {
        lines: lines.ok_or_else(|| malformed("line_items"))?,
        currency: currency.to_owned(),
        // The parts of an order are told without tax, whatever the shop's prices have in them.
        taxes_included: false,
        shipping_cents: amount("shipping_total").unwrap_or(0),
        shipping_tax_rate_bps: shipping_rate,
        discount_cents: amount("discount_total").unwrap_or(0),
        total_cents: amount("total").ok_or_else(|| malformed("total"))?,
        customer_email: email(&order["billing"]["email"]),
        address: address(to, ["address_1", "address_2", "city", "state", "postcode", "country"]),
        recipient: Some(names.join(" ").trim().to_owned()).filter(|name| !name.is_empty()),
        notes: notes(&order["customer_note"]),
    })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Client for the REST API of one store.
struct WooStore {
    peer: PeerClient,
    /// Consumer key and secret.
    key: (String, String),
}

impl WooStore {
    fn new(http: PeerHttp, url: &str, token: &str) -> Result<Self, PeerSettingError> {
        // They are shown as a user and a password, so the peer itself has no token.
        let peer = PeerClient::new(http, url, TokenForm::Bearer, "")?;
        let (key, secret) = token.split_once(':').unwrap_or((token, ""));
        Ok(Self { peer, key: (key.to_owned(), secret.to_owned()) })
    }

    fn call(&self, method: Method, path: &str) -> RequestBuilder {
        let call = self.peer.below(method, &format!("wp-json/wc/v3/{path}"));
        call.basic_auth(&self.key.0, Some(&self.key.1))
    }
}

#[async_trait]
impl ShopClient for WooStore {
    async fn tell(&self, notice: &ShipmentNotice<'_>) -> Result<ShipmentResponse, PeerFault> {
        let order = format!("orders/{}", notice.external_id);
        let shipment = notice.shipment;
        let way = if shipment.tracking_number.is_empty() {
            shipment.carrier.clone()
        } else {
            format!("{} {}", shipment.carrier, shipment.tracking_number)
        };
        // The words say which shipment of which order it is, and so are their own mark.
        let words = one_line(&format!("Shipment {} of {}: {way}", shipment.number, notice.mark));
        let notes = look(&self.peer, self.call(Method::GET, &format!("{order}/notes"))).await?;
        let is_noted = |note: &Value| note["note"].as_str().is_some_and(|text| text.contains(&words));
        if !list(&notes).iter().any(is_noted) {
            let body = json!({"note": words, "customer_note": true});
            let call = self.call(Method::POST, &format!("{order}/notes")).json(&body);
            if let ShopAnswer::Refused(words) = ask(&self.peer, call).await? {
                return Ok(ShipmentResponse::Refused(words));
            }
        }
        if !shipment.last {
            return Ok(ShipmentResponse::Known);
        }
        match ask(&self.peer, self.call(Method::PUT, &order).json(&json!({"status": "completed"}))).await? {
            ShopAnswer::Done(_) => Ok(ShipmentResponse::Known),
            ShopAnswer::Refused(words) => Ok(ShipmentResponse::Refused(words)),
        }
    }
}
