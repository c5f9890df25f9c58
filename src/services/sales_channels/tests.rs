#![expect(clippy::unwrap_used, reason = "tests")]
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use reqwest::header::HeaderValue;
use serde_json::{Value, json};

use super::*;
use domain::channel_order::amounts;
use domain::time::Timestamp;

const SECRET: &str = "hush";

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap())).collect()
}

fn signature(body: &[u8]) -> String {
    STANDARD.encode(hmac_sha256(SECRET.as_bytes(), &[body]))
}

fn received(word: &str, topic: (&'static str, &str), body: &Value) -> Result<Option<ShopOrderUpdate>, MessageError> {
    let messages = channel_type(word).unwrap().messages.as_ref().unwrap();
    let body = body.to_string().into_bytes();
    let signed = signature(&body);
    let name: &'static str = messages.signature_header;
    let lower: &'static str = Box::leak(name.to_lowercase().into_boxed_str());
    messages.receive(&headers(&[topic, (lower, &signed)]), &body, SECRET)
}

fn shopify_order() -> Value {
    json!({
        "id": 450_789_469, "name": "#1001", "email": "Bob@Example.org", "updated_at": "2026-11-02T11:00:00-05:00",
        "currency": "USD", "taxes_included": false, "total_price": "32.40", "total_discounts": "0.00",
        "financial_status": "paid", "cancelled_at": null, "note": null, "refunds": [],
        "line_items": [{
            "id": 466_157_049, "variant_id": 39_072_856, "sku": "VASE-G", "name": "Vase - green", "quantity": 2,
            "price": "12.50", "taxable": true, "tax_lines": [{"rate": 0.08, "price": "2.00"}],
        }],
        "shipping_lines": [{"price": "5.00", "tax_lines": [{"rate": 0.08, "price": "0.40"}]}],
        "shipping_address": {
            "name": "Bob Norman", "address1": "1 Main Street", "address2": null, "city": "Louisville",
            "province_code": "KY", "zip": "40202", "country_code": "US",
        },
    })
}

#[test]
fn an_order_of_the_one_shop_is_read() {
    let news = received("shopify", ("x-shopify-topic", "orders/paid"), &shopify_order()).unwrap().unwrap();
    assert_eq!((news.external_id.as_str(), news.number.as_str(), news.paid), ("450789469", "#1001", true));
    assert_eq!(news.changed_at, "2026-11-02T16:00:00Z".parse::<Timestamp>().unwrap());
    let content = news.content.unwrap();
    assert_eq!(content.customer_email.as_deref(), Some("bob@example.org"));
    assert_eq!(content.lines[0].primary_name(), "39072856");
    assert_eq!((content.lines[0].tax_rate_bps, content.shipping_tax_rate_bps), (800, 800));
    assert_eq!(content.address.as_ref().unwrap().region.as_deref(), Some("KY"));
    let costs = amounts(&content).unwrap();
    assert_eq!((costs.unit_prices, costs.shipping_cents, costs.rounding_cents), (vec![1250], 500, 0));
    let mut gone = shopify_order();
    gone["cancelled_at"] = json!("2026-11-02T12:00:00Z");
    gone["refunds"] = json!([{"transactions": [
        {"kind": "refund", "status": "success", "amount": "10.00"}, {"kind": "refund", "status": "failure", "amount": "9"},
    ]}]);
    let news = received("shopify", ("x-shopify-topic", "orders/updated"), &gone).unwrap().unwrap();
    assert_eq!((news.cancelled, news.refunded_cents), (true, 1000));
    let other = received("shopify", ("x-shopify-topic", "products/update"), &json!({"id": 1}));
    assert_eq!(other, Ok(None), "of no use");
}

#[test]
fn an_order_whose_lines_cannot_be_read_is_kept_all_the_same() {
    let mut order = shopify_order();
    for lines in [json!([]), json!([{"id": 1, "quantity": 0.5, "price": "1.00"}])] {
        order["line_items"] = lines;
        let news = received("shopify", ("x-shopify-topic", "orders/paid"), &order).unwrap().unwrap();
        assert_eq!((news.external_id.as_str(), news.paid, news.content), ("450789469", true, None));
        assert!(news.unreadable.is_some_and(|words| words.contains("line_items")));
    }
    order["updated_at"] = json!(null);
    assert!(received("shopify", ("x-shopify-topic", "orders/paid"), &order).is_err(), "no order at all");
}

#[test]
fn an_order_of_the_other_shop_is_read() {
    let order = json!({
        "id": 727, "number": "727", "status": "processing", "currency": "EUR", "date_modified_gmt": "2026-11-02T10:00:00",
        "date_paid_gmt": "2026-11-02T10:00:00", "discount_total": "0.00", "shipping_total": "4.20", "total": "24.98",
        "billing": {"email": "eve@example.org"}, "customer_note": "by Friday",
        "shipping": {
            "first_name": "Eve", "last_name": "Moss", "address_1": "Weg 1", "address_2": "", "city": "Ulm", "state": "",
            "postcode": "89073", "country": "DE",
        },
        "line_items": [{
            "id": 315, "name": "Cup", "product_id": 93, "variation_id": 0, "quantity": 2, "subtotal": "16.79",
            "total": "16.79", "sku": "CUP", "taxes": [{"id": 75, "total": "3.19"}],
        }],
        "shipping_lines": [{"taxes": [{"id": 75, "total": "0.80"}]}],
        "tax_lines": [{"rate_id": 75, "rate_percent": 19}], "refunds": [],
    });
    let news = received("woocommerce", ("x-wc-webhook-topic", "order.updated"), &order).unwrap().unwrap();
    let content = news.content.unwrap();
    assert_eq!((news.number.as_str(), news.paid, news.cancelled), ("#727", true, false));
    assert_eq!((content.lines[0].variant.as_deref(), content.lines[0].tax_rate_bps), (Some("93"), 1900));
    assert_eq!(content.notes.as_deref(), Some("by Friday"));
    // 16.79 for two is no whole price of one: the total is what was paid all the same.
    let costs = amounts(&content).unwrap();
    assert!(costs.rounding_cents.abs() <= 3, "{costs:?}");
    let messages = channel_type("woocommerce").unwrap().messages.as_ref().unwrap();
    assert_eq!(messages.receive(&HeaderMap::new(), b"webhook_id=12", SECRET), Ok(None), "the address is tried");
    assert!(messages.receive(&HeaderMap::new(), b"webhook_id=12&id=1", SECRET).is_err());
}

#[test]
fn what_is_not_signed_is_refused() {
    let messages = channel_type("shopify").unwrap().messages.as_ref().unwrap();
    let body = shopify_order().to_string().into_bytes();
    let good = signature(&body);
    let judge = |signature: Option<&str>, body: &[u8], secret: &str| {
        let all: Vec<(&'static str, &str)> =
            signature.map(|value| ("x-shopify-hmac-sha256", value)).into_iter().collect();
        let mut headers = headers(&all);
        headers.insert("x-shopify-topic", HeaderValue::from_static("orders/paid"));
        messages.receive(&headers, body, secret).is_ok()
    };
    assert!(judge(Some(&good), &body, SECRET));
    assert!(!judge(None, &body, SECRET));
    assert!(!judge(Some(""), &body, SECRET));
    assert!(!judge(Some(&good), b"{}", SECRET));
    assert!(!judge(Some(&good), &body, "other"));
    assert!(!judge(Some(&good[..good.len() - 4]), &body, SECRET));
    let empty = STANDARD.encode(hmac_sha256(b"", &[&body]));
    assert!(!judge(Some(&empty), &body, ""), "an empty secret signs nothing");
}

fn read(file: &str, piece: usize) -> Result<Vec<TableOrder>, RowFault> {
    let mut reader = TableReader::new("usd", Timestamp(1));
    let mut all = Vec::new();
    for piece in file.as_bytes().chunks(piece.max(1)) {
        all.extend(reader.push(piece)?);
    }
    all.extend(reader.finish()?);
    Ok(all)
}

const FILE: &str = "order,variant,quantity,unit_price,tax_rate,email,line1,city,country,title\r\n\
    A1,vase,2,12.50,8,a@example.org,\"Main St, 1\",Ulm,de,\"A \"\"vase\"\"\"\r\n\
    A1,cup,1,3,8,,,,,\r\n\
    A2,,0,x,800,nobody,,,,\r\n\
    A1,cup,1,3,,,,,,\r\n\
    A3,cup,3,0.10,,,,,,";

#[test]
fn a_file_is_read_whatever_pieces_it_comes_in() {
    for piece in [1, 7, 4096] {
        let all = read(FILE, piece).unwrap();
        let [first, second, again, last] = &all[..] else { panic!("{all:?}") };
        let first = first.as_ref().unwrap().content.as_ref().unwrap();
        assert_eq!((first.lines.len(), first.total_cents), (2, 3024));
        assert_eq!(first.lines[0].title, "A \"vase\"");
        assert_eq!(first.address.as_ref().unwrap().line1, "Main St, 1");
        let faults = second.as_ref().unwrap_err();
        let columns: Vec<&str> = faults.iter().map(|fault| fault.column.as_str()).collect();
        assert_eq!(columns, ["variant", "quantity", "unit_price", "tax_rate", "email"]);
        assert!(faults.iter().all(|fault| fault.row == 4), "{faults:?}");
        assert!(again.as_ref().unwrap_err()[0].message.contains("must be next to each other"));
        assert_eq!(last.as_ref().unwrap().content.as_ref().unwrap().total_cents, 30);
    }
}

#[test]
fn a_file_that_is_none_says_why() {
    assert_eq!(read("", 9).unwrap_err().row, 1);
    assert_eq!(read("order,variant,quantity\n", 9).unwrap_err().column, "unit_price");
    assert_eq!(read("order,order,variant,quantity,unit_price\n", 9).unwrap_err().column, "order");
    let long = format!("order,variant,quantity,unit_price\nA,{},1,1\n", "x".repeat(20_000));
    assert!(read(&long, 512).unwrap_err().message.contains("longer than"));
}

proptest! {
    #[test]
    fn nothing_makes_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), topic in "orders/(paid|updated)") {
        let mut reader = TableReader::new("usd", Timestamp(1));
        let _ = reader.push(b"order,variant,quantity,unit_price\n");
        if reader.push(&bytes).is_ok() {
            let _ = reader.finish();
        }
        let signed = signature(&bytes);
        let all = headers(&[("x-shopify-topic", &topic), ("x-shopify-hmac-sha256", &signed)]);
        let _ = channel_type("shopify").unwrap().messages.as_ref().unwrap().receive(&all, &bytes, SECRET);
    }
}
