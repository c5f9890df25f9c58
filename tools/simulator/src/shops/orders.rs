//! Orders from an external shop, in both platforms' formats.

use axum::http::StatusCode;
use serde_json::{Value, json};

/// Order from an external shop.
#[derive(Clone, Debug)]
pub struct ShopOrder {
    /// Order ID on the platform.
    pub id: u64,
    /// Variant, quantity and unit price in cents of each line.
    pub lines: Vec<(String, u32, i64)>,
    /// `true` once the order has been paid.
    pub paid: bool,
    /// `true` once the order has been cancelled.
    pub cancelled: bool,
    /// Total amount refunded, in cents.
    pub refunded_cents: i64,
    /// Fulfillments in the platform's format.
    pub fulfillments: Vec<Value>,
    /// Notes added to the order.
    pub notes: Vec<String>,
    /// `true` once the order's status has been changed to completed.
    pub completed: bool,
    /// Number of changes so far; each change is dated one second after the previous one.
    changes: u32,
}

fn money(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

impl ShopOrder {
    /// Creates an unpaid order with the given lines: variant, quantity, and unit price in cents.
    pub fn new(id: u64, lines: &[(&str, u32, i64)]) -> Self {
        let lines = lines.iter().map(|(variant, quantity, cents)| ((*variant).to_owned(), *quantity, *cents)).collect();
        Self {
            id,
            lines,
            paid: false,
            cancelled: false,
            refunded_cents: 0,
            fulfillments: Vec::new(),
            notes: Vec::new(),
            completed: false,
            changes: 0,
        }
    }

    /// Applies a change, which is dated one second after the one before.
    pub fn change(&mut self, change: impl FnOnce(&mut Self)) {
        self.changes += 1;
        change(self);
    }

    /// Returns the total price of the order in cents.
    pub fn total_cents(&self) -> i64 {
        self.lines.iter().map(|(_, quantity, cents)| i64::from(*quantity) * cents).sum()
    }

    fn changed_at(&self) -> String {
        format!("2026-11-02T10:{:02}:{:02}", self.changes / 60, self.changes % 60)
    }

    fn line_id(&self, at: usize) -> u64 {
        self.id * 100 + at as u64
    }

    /// Returns the order in Shopify's format; `title` names the product of a variant.
    pub fn of_shopify(&self, title: impl Fn(&str) -> String) -> Value {
        let line = |(at, (variant, quantity, cents)): (usize, &(String, u32, i64))| {
            json!({
                "id": self.line_id(at), "variant_id": variant.parse::<u64>().ok(), "sku": variant,
                "name": title(variant), "quantity": quantity, "price": money(*cents), "taxable": true, "tax_lines": [],
            })
        };
        let status = match (self.paid, self.refunded_cents) {
            (false, _) => "pending",
            (true, 0) => "paid",
            (true, back) if back >= self.total_cents() => "refunded",
            (true, _) => "partially_refunded",
        };
        let refunds = match self.refunded_cents {
            0 => json!([]),
            back => json!([{"transactions": [{"kind": "refund", "status": "success", "amount": money(back)}]}]),
        };
        json!({
            "id": self.id, "name": format!("#{}", self.id), "email": "buyer@example.org", "currency": "USD",
            "updated_at": format!("{}Z", self.changed_at()), "taxes_included": false, "total_discounts": "0.00",
            "total_price": money(self.total_cents()), "financial_status": status, "refunds": refunds, "note": "Hello",
            "cancelled_at": self.cancelled.then(|| format!("{}Z", self.changed_at())),
            "line_items": self.lines.iter().enumerate().map(line).collect::<Vec<_>>(), "shipping_lines": [],
            "shipping_address": {
                "name": "Bob Norman", "address1": "1 Main Street", "city": "Louisville", "province_code": "KY",
                "zip": "40202", "country_code": "US",
            },
        })
    }

    /// Returns the order in the format of `WooCommerce`; `title` names the product of a variant.
    pub(super) fn of_woocommerce(&self, title: impl Fn(&str) -> String) -> Value {
        let line = |(at, (variant, quantity, cents)): (usize, &(String, u32, i64))| {
            let all = money(i64::from(*quantity) * cents);
            json!({
                "id": self.line_id(at), "name": title(variant), "product_id": variant.parse::<u64>().unwrap_or(0),
                "variation_id": 0, "sku": variant, "quantity": quantity, "subtotal": all, "total": all, "taxes": [],
            })
        };
        let status = match (self.cancelled, self.paid) {
            (true, _) => "cancelled",
            (false, true) if self.completed => "completed",
            (false, true) => "processing",
            (false, false) => "pending",
        };
        let refunds = match self.refunded_cents {
            0 => json!([]),
            back => json!([{"id": 1, "total": format!("-{}", money(back))}]),
        };
        json!({
            "id": self.id, "number": self.id.to_string(), "status": status, "currency": "USD",
            "date_modified_gmt": self.changed_at(), "date_paid_gmt": self.paid.then(|| self.changed_at()),
            "discount_total": "0.00", "shipping_total": "0.00", "total": money(self.total_cents()), "tax_lines": [],
            "line_items": self.lines.iter().enumerate().map(line).collect::<Vec<_>>(), "shipping_lines": [],
            "refunds": refunds, "customer_note": "", "billing": {"email": "buyer@example.org"},
            "shipping": {
                "first_name": "Bob", "last_name": "Norman", "address_1": "1 Main Street", "city": "Louisville",
                "state": "KY", "postcode": "40202", "country": "US",
            },
        })
    }

    fn fulfilled(&self, line: u64) -> u64 {
        let items = self.fulfillments.iter().flat_map(|one| one["line_items"].as_array().into_iter().flatten());
        items.filter(|item| item["id"] == line).filter_map(|item| item["quantity"].as_u64()).sum()
    }

    /// Returns the open fulfillment order. Its ID is the order's ID followed by a zero, so that the order can be
    /// identified.
    pub fn fulfillment_order(&self) -> Value {
        let item = |(at, (_, quantity, _)): (usize, &(String, u32, i64))| {
            let line = self.line_id(at);
            let left = u64::from(*quantity).saturating_sub(self.fulfilled(line));
            json!({"id": line * 10, "line_item_id": line, "quantity": quantity, "fulfillable_quantity": left})
        };
        let items: Vec<Value> = self.lines.iter().enumerate().map(item).collect();
        let open = items.iter().any(|item| item["fulfillable_quantity"] != 0);
        json!({"id": self.id * 10, "status": if open { "open" } else { "closed" }, "line_items": items})
    }

    /// Adds a fulfillment, and returns the body of the response; rejects quantities greater than those still open.
    pub fn fulfill(&mut self, request: &Value) -> Result<Value, (StatusCode, Value)> {
        let items = request["line_items_by_fulfillment_order"][0]["fulfillment_order_line_items"].as_array();
        let open = self.fulfillment_order();
        let mut line_items = Vec::new();
        for item in items.into_iter().flatten() {
            let all = open["line_items"].as_array().into_iter().flatten();
            let line = all.into_iter().find(|one| one["id"] == item["id"]);
            let left = line.and_then(|one| one["fulfillable_quantity"].as_u64()).unwrap_or(0);
            let quantity = item["quantity"].as_u64().unwrap_or(0);
            if quantity == 0 || quantity > left {
                let words = json!({"errors": ["Invalid fulfillment order line item quantity requested."]});
                return Err((StatusCode::UNPROCESSABLE_ENTITY, words));
            }
            line_items.push(json!({"id": line.map(|one| one["line_item_id"].clone()), "quantity": quantity}));
        }
        let tracking = &request["tracking_info"];
        let fulfillment = json!({
            "id": self.id * 1000 + self.fulfillments.len() as u64, "status": "success", "line_items": line_items,
            "tracking_number": tracking["number"], "tracking_company": tracking["company"],
        });
        self.fulfillments.push(fulfillment.clone());
        Ok(json!({"fulfillment": fulfillment}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_titles_of_their_products() {
        let order = ShopOrder::new(7, &[("1", 2, 1_900), ("2", 1, 250)]);
        let title = |variant: &str| if variant == "1" { "Cable clip" } else { "Item" }.to_owned();
        for body in [order.of_shopify(title), order.of_woocommerce(title)] {
            let titles = [&body["line_items"][0]["name"], &body["line_items"][1]["name"]];
            assert_eq!(titles, [&json!("Cable clip"), &json!("Item")], "{body}");
        }
    }
}
