#![expect(clippy::unwrap_used, reason = "tests")]
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ledger::DisputeState;

fn event(kind: &str, object: &Value) -> Value {
    json!({"id": "evt_1", "object": "event", "type": kind, "created": 1_700_000_000, "livemode": false,
        "data": {"object": object, "previous_attributes": {}}, "pending_webhooks": 1})
}

fn read(kind: &str, object: &Value) -> Result<PaymentEvent, EventError> {
    parse(&serde_json::to_vec(&event(kind, object)).unwrap())
}

fn session(changes: &Value) -> Value {
    let mut session = json!({"id": "cs_1", "object": "checkout.session", "mode": "payment", "payment_status": "paid",
        "amount_total": 4200, "currency": "usd", "client_reference_id": "order-1", "customer": "cus_1",
        "metadata": {"orderId": "order-1", "invoiceId": "inv-1", "other": "x"}, "payment_intent": "pi_1"});
    for (name, value) in changes.as_object().unwrap() {
        session[name] = value.clone();
    }
    session
}

fn shape(path: &str) -> impl Fn(&Result<PaymentEvent, EventError>) -> bool {
    move |result| matches!(result, Err(EventError::Shape { path: at, .. }) if at == path)
}

#[test]
fn a_completed_paid_session_is_a_payment_with_all_its_links() {
    let event = read("checkout.session.completed", &session(&json!({}))).unwrap();
    assert_eq!(event.id, "evt_1");
    assert_eq!(event.created, 1_700_000_000);
    let expected = PaymentEffect::Paid {
        amount_cents: Some(4200),
        currency: Some("usd".into()),
        session: "cs_1".into(),
        payment_intent: Some("pi_1".into()),
        customer: Some("cus_1".into()),
    };
    assert_eq!(event.effect, expected);
    let links = OrderLinks {
        client_reference_id: Some("order-1".into()),
        order_id: Some("order-1".into()),
        invoice_id: Some("inv-1".into()),
        payment_intent: Some("pi_1".into()),
        session: Some("cs_1".into()),
    };
    assert_eq!(event.links, links);
}

#[test]
fn payment_status_decides_whether_a_completed_session_is_paid() {
    let status = |status: &str| read("checkout.session.completed", &session(&json!({"payment_status": status})));
    assert!(matches!(status("no_payment_required").unwrap().effect, PaymentEffect::Paid { .. }));
    assert_eq!(status("unpaid").unwrap().effect, PaymentEffect::Unpaid);
    assert!(shape("data.object.payment_status")(&status("perhaps")));
    assert!(shape("data.object.payment_status")(&read(
        "checkout.session.completed",
        &session(&json!({"payment_status": null}))
    )));
}

#[test]
fn a_slow_payment_ends_as_paid_or_failed() {
    // The late success counts as paid, whatever the copy of the session says.
    let late = session(&json!({"payment_status": "unpaid"}));
    let effect = |kind: &str| read(kind, &late).unwrap().effect;
    assert!(matches!(effect("checkout.session.async_payment_succeeded"), PaymentEffect::Paid { .. }));
    assert!(matches!(effect("checkout.session.async_payment_failed"), PaymentEffect::Failed { .. }));
    assert_eq!(effect("checkout.session.expired"), PaymentEffect::SessionExpired);
}

#[test]
fn sparse_and_expanded_sessions_are_understood() {
    let sparse = json!({"id": "cs_2", "payment_status": "paid", "metadata": null, "payment_intent": null});
    let event = read("checkout.session.completed", &sparse).unwrap();
    assert!(matches!(
        event.effect,
        PaymentEffect::Paid { amount_cents: None, currency: None, payment_intent: None, .. }
    ));
    assert_eq!(event.links, OrderLinks { session: Some("cs_2".into()), ..OrderLinks::default() });

    let expanded = session(&json!({"payment_intent": {"id": "pi_9", "amount": 1}, "customer": {"id": "cus_9"},
        "metadata": {"order_id": "o", "invoice_id": "i"}, "client_reference_id": "", "currency": "EUR"}));
    let event = read("checkout.session.completed", &expanded).unwrap();
    assert_eq!(event.links.payment_intent.as_deref(), Some("pi_9"));
    assert_eq!(event.links.order_id.as_deref(), Some("o"));
    assert_eq!(event.links.invoice_id.as_deref(), Some("i"));
    assert_eq!(event.links.client_reference_id, None);
    let PaymentEffect::Paid { customer, currency, .. } = event.effect else { panic!("not paid") };
    assert_eq!(customer.as_deref(), Some("cus_9"));
    assert_eq!(currency.as_deref(), Some("eur"));
}

#[test]
fn a_failed_payment_carries_the_processors_reason_made_harmless() {
    let failed = |error: Value| {
        let object = json!({"id": "pi_1", "last_payment_error": error, "metadata": {"orderId": "o"}});
        let event = read("payment_intent.payment_failed", &object).unwrap();
        assert_eq!(event.links.payment_intent.as_deref(), Some("pi_1"));
        assert_eq!(event.links.order_id.as_deref(), Some("o"));
        match event.effect {
            PaymentEffect::Failed { reason } => reason,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        failed(json!({"code": "card_declined", "message": "Your card\nwas declined."})),
        "Your card was declined."
    );
    assert_eq!(failed(json!({"code": "card_declined", "decline_code": "lost_card"})), "lost_card");
    assert_eq!(failed(json!(null)), "the payment failed");
    assert_eq!(failed(json!({"message": "é".repeat(5000)})).chars().count(), 300);
}

#[test]
fn a_refund_is_cumulative_and_says_whether_it_is_whole() {
    let charge = json!({"id": "ch_1", "payment_intent": "pi_1", "amount": 4200, "amount_refunded": 1200, "refunded": false, "currency": "usd",
        "metadata": {}});
    let event = read("charge.refunded", &charge).unwrap();
    let expected = PaymentEffect::Refunded { amount_refunded_cents: 1200, full: false, currency: Some("usd".into()) };
    assert_eq!(event.effect, expected);
    assert_eq!(event.links, OrderLinks { payment_intent: Some("pi_1".into()), ..OrderLinks::default() });
}

#[test]
fn subscriptions_are_told_apart_from_orders() {
    let changed = |customer: &str, subscription: &str| PaymentEffect::SubscriptionChanged {
        customer: Some(customer.into()),
        subscription: Some(subscription.into()),
    };
    let of = |kind: &str, object: Value| read(kind, &object).unwrap().effect;
    assert_eq!(
        of("customer.subscription.updated", json!({"id": "sub_1", "customer": "cus_1"})),
        changed("cus_1", "sub_1")
    );
    assert_eq!(
        of("invoice.paid", json!({"id": "in_1", "customer": "cus_1", "subscription": "sub_1"})),
        changed("cus_1", "sub_1")
    );
    let newer =
        json!({"id": "in_1", "customer": "cus_1", "parent": {"subscription_details": {"subscription": "sub_2"}}});
    assert_eq!(of("invoice.payment_failed", newer), changed("cus_1", "sub_2"));
    let session = session(&json!({"mode": "subscription", "subscription": "sub_3"}));
    assert_eq!(of("checkout.session.completed", session), changed("cus_1", "sub_3"));
}

#[test]
fn a_refund_that_failed_is_told_and_one_on_its_way_is_not() {
    let of = |status: &str| {
        read("refund.updated", &json!({"id": "re_1", "amount": 200, "payment_intent": "pi_1", "status": status}))
            .unwrap()
    };
    let failed = of("failed");
    let (reason, refund) = ("it failed".into(), Some("re_1".into()));
    assert_eq!(failed.effect, PaymentEffect::RefundFailed { amount_cents: 200, reason, refund });
    assert_eq!(failed.links.payment_intent.as_deref(), Some("pi_1"));
    assert!(matches!(of("pending").effect, PaymentEffect::Ignored { .. }));
}

#[test]
fn a_dispute_says_how_it_stands() {
    let of = |status: &str| {
        let object =
            json!({"id": "dp_1", "amount": 500, "payment_intent": "pi_1", "reason": "fraudulent", "status": status});
        let event = read("charge.dispute.closed", &object).unwrap();
        assert_eq!(event.links.payment_intent.as_deref(), Some("pi_1"));
        match event.effect {
            PaymentEffect::Disputed(news) => news.state,
            other => panic!("{other:?}"),
        }
    };
    let read = ["needs_response", "under_review", "news_of_2030", "won", "warning_closed", "lost"].map(of);
    let (open, won, lost) = (DisputeState::Open, DisputeState::Won, DisputeState::Lost);
    assert_eq!(read, [open, open, open, won, won, lost]);
}

#[test]
fn no_line_of_a_period_is_over_more_than_there_can_be() {
    let paid = |amount: i64| {
        let invoice = json!({"id": "in_1", "customer": "cus_1", "amount_paid": 5000, "currency": "usd",
            "subscription": "sub_1", "lines": {"data": [{"amount": amount}]}});
        read("invoice.paid", &invoice)
    };
    for amount in [i64::MIN, -MAX_CENTS - 1, MAX_CENTS + 1, i64::MAX] {
        assert!(matches!(paid(amount), Err(EventError::Shape { .. })), "{amount}");
    }
    for amount in [-MAX_CENTS, MAX_CENTS] {
        assert!(paid(amount).is_ok(), "{amount}");
    }
}

#[test]
fn a_paid_period_says_whose_it_is_and_what_for() {
    let details = json!({"subscription": "sub_1", "metadata": {"customerId": "ann"}});
    let invoice = |changes: &Value| {
        let mut invoice = json!({
            "id": "in_1", "customer": "cus_1", "number": "A-1", "amount_paid": 5000, "total": 5000, "currency": "USD",
            "parent": {"type": "subscription_details", "subscription_details": details},
            "lines": {"object": "list", "has_more": false, "data": [
                {"description": "2 × Filament\nbox", "quantity": 2, "amount": 6000}, {"description": null, "amount": -1000},
            ]},
        });
        for (name, value) in changes.as_object().unwrap() {
            invoice[name] = value.clone();
        }
        read("invoice.paid", &invoice).unwrap().effect
    };
    let PaymentEffect::PeriodPaid(period) = invoice(&json!({})) else { panic!("no paid period") };
    assert_eq!((period.invoice.as_str(), period.our_customer.as_deref()), ("in_1", Some("ann")));
    assert_eq!((period.amount_cents, period.currency.as_str(), period.payment_intent), (5000, "usd", None));
    let lines: Vec<_> =
        period.lines.iter().map(|one| (one.description.as_str(), one.quantity, one.amount_cents)).collect();
    assert_eq!(lines, [("2 × Filament box", 2, 6000), ("Subscription", 1, -1000)]);
    let PaymentEffect::PeriodPaid(period) = invoice(&json!({"lines": {"has_more": true, "data": [{"amount": 1}]}}))
    else {
        panic!("no paid period")
    };
    assert!(period.lines.is_empty(), "a part of the lines is none");
    for none in [json!({"amount_paid": 0}), json!({"parent": null})] {
        assert!(!matches!(invoice(&none), PaymentEffect::PeriodPaid(_)), "{none}");
    }
    let payment =
        json!({"id": "inpay_1", "invoice": "in_1", "payment": {"type": "payment_intent", "payment_intent": "pi_1"}});
    let named = PaymentEffect::PeriodPaymentNamed { invoice: "in_1".into(), payment_intent: "pi_1".into() };
    assert_eq!(read("invoice_payment.paid", &payment).unwrap().effect, named);
    let other = read("invoice_payment.paid", &json!({"id": "inpay_1", "invoice": "in_1"})).unwrap().effect;
    assert_eq!(other, PaymentEffect::Ignored { kind: "invoice_payment.paid".into() });
}

#[test]
fn what_a_refund_and_a_dispute_say_is_kept() {
    let refund =
        json!({"id": "re_1", "amount": 200, "status": "canceled", "failure_reason": "expired_or_canceled_card"});
    let reason = "expired_or_canceled_card".to_owned();
    let expected = PaymentEffect::RefundFailed { amount_cents: 200, reason, refund: Some("re_1".to_owned()) };
    for kind in ["refund.failed", "refund.updated", "charge.refund.updated"] {
        assert_eq!(read(kind, &refund).unwrap().effect, expected, "{kind}");
    }
    let dispute = |reason: Value| {
        let object = json!({"id": "dp_1", "amount": 500, "reason": reason, "status": "prevented"});
        read("charge.dispute.created", &object).unwrap().effect
    };
    for (code, reason) in [(json!("fraudulent"), "fraudulent"), (json!(null), "no reason given")] {
        let (id, reason, state) = ("dp_1".to_owned(), reason.to_owned(), DisputeState::Won);
        assert_eq!(dispute(code), PaymentEffect::Disputed(DisputeUpdate { id, amount_cents: 500, reason, state }));
    }
    for kind in ["refund.updated", "charge.dispute.created"] {
        let nameless = json!({"id": "x_1", "status": "failed"});
        assert!(shape("data.object.amount")(&read(kind, &nameless)), "{kind}");
    }
    assert_eq!(
        read("charge.succeeded", &json!({})).unwrap().effect,
        PaymentEffect::Ignored { kind: "charge.succeeded".into() }
    );
}

#[test]
fn names_have_at_most_255_bytes_and_currencies_three_letters() {
    let of = |changes: Value| read("checkout.session.completed", &session(&changes));
    assert_eq!(of(json!({"id": "x".repeat(255)})).unwrap().links.session, Some("x".repeat(255)));
    for currency in ["u$d", "us", "usdt"] {
        assert!(shape("data.object.currency")(&of(json!({"currency": currency}))), "{currency}");
    }
}

#[test]
fn a_period_has_up_to_a_hundred_lines_and_a_number_for_people() {
    let period = |count: usize| {
        let lines: Vec<Value> = (0..count).map(|_| json!({"amount": 1, "quantity": 0})).collect();
        let invoice = json!({"id": "in_1", "number": "A-1", "amount_paid": 100, "currency": "usd",
            "subscription": "sub_1", "payment_intent": "pi_1", "lines": {"data": lines}});
        match read("invoice.paid", &invoice).unwrap().effect {
            PaymentEffect::PeriodPaid(period) => *period,
            other => panic!("{other:?}"),
        }
    };
    let whole = period(100);
    assert_eq!((whole.number.as_deref(), whole.payment_intent.as_deref()), (Some("A-1"), Some("pi_1")));
    assert_eq!((whole.lines.len(), whole.lines[0].quantity), (100, 1), "at least one");
    assert!(period(101).lines.is_empty(), "too many are none");
    let nested = json!({"id": "in_1", "customer": "cus_1", "subscription_details": {"subscription": "sub_9"}});
    let changed =
        PaymentEffect::SubscriptionChanged { customer: Some("cus_1".into()), subscription: Some("sub_9".into()) };
    assert_eq!(read("invoice.finalized", &nested).unwrap().effect, changed);
}

#[test]
fn events_we_do_not_use_are_ignored_whatever_their_object_is() {
    let thin =
        br#"{"id":"evt_9","object":"v2.core.event","type":"v2.core.account.updated","created":"2026-01-01T00:00:00Z"}"#;
    let event = parse(thin).unwrap();
    assert_eq!(event.effect, PaymentEffect::Ignored { kind: "v2.core.account.updated".into() });
    let event = read("payout.paid", &json!(["anything", 1e300])).unwrap();
    assert_eq!(event.effect, PaymentEffect::Ignored { kind: "payout.paid".into() });
    let setup = read("checkout.session.completed", &session(&json!({"mode": "setup"}))).unwrap();
    assert_eq!(setup.effect, PaymentEffect::Ignored { kind: "checkout.session.completed".into() });
}

#[test]
fn wrong_shapes_are_named_by_their_path() {
    assert!(matches!(parse(b"{"), Err(EventError::NotJson { .. })));
    assert!(matches!(parse(b""), Err(EventError::NotJson { .. })));
    assert!(matches!(parse(b"\xff\xfe"), Err(EventError::NotJson { .. })));
    assert!(shape("event")(&parse(b"[]")));
    assert!(shape("id")(&parse(br#"{"type":"x"}"#)));
    assert!(shape("type")(&parse(br#"{"id":"e","type":7}"#)));
    assert!(shape("created")(&parse(br#"{"id":"e","type":"charge.refunded","data":{"object":{}}}"#)));
    assert!(shape("data")(&parse(br#"{"id":"e","type":"charge.refunded","created":1}"#)));
    assert!(shape("data.object")(&parse(br#"{"id":"e","type":"charge.refunded","created":1,"data":{}}"#)));
    let bad = |changes: Value| read("checkout.session.completed", &session(&changes));
    assert!(shape("data.object.id")(&bad(json!({"id": ""}))));
    assert!(shape("data.object.id")(&bad(json!({"id": "x".repeat(256)}))));
    assert!(shape("data.object.id")(&bad(json!({"id": "a\u{0}b"}))));
    assert!(shape("data.object.metadata")(&bad(json!({"metadata": "x"}))));
    assert!(shape("data.object.metadata.orderId")(&bad(json!({"metadata": {"orderId": 42}}))));
    assert!(shape("data.object.payment_intent")(&bad(json!({"payment_intent": 1}))));
    assert!(shape("data.object.payment_intent.id")(&bad(json!({"payment_intent": {}}))));
    assert!(shape("data.object.currency")(&bad(json!({"currency": "dollars"}))));
    assert!(shape("data.object.refunded")(&read("charge.refunded", &json!({"amount_refunded": 1, "refunded": "yes"}))));
    assert!(shape("data.object.amount_refunded")(&read("charge.refunded", &json!({"refunded": true}))));
}

#[test]
fn amounts_out_of_range_are_refused() {
    for amount in ["-1", "1.5", "9223372036854775808", "18446744073709551616", "1e300", "\"100\"", "true"] {
        let body = format!(
            r#"{{"id":"e","type":"checkout.session.completed","created":1,"data":{{"object":{{"id":"cs","payment_status":"paid","amount_total":{amount}}}}}}}"#
        );
        assert!(shape("data.object.amount_total")(&parse(body.as_bytes())), "{amount}");
    }
    // A number that no float can hold is refused as JSON.
    let body = br#"{"id":"e","type":"x","created":1e999}"#;
    assert!(matches!(parse(body), Err(EventError::NotJson { .. })));
    for created in ["1.5", "18446744073709551616", "[]"] {
        let body = format!(r#"{{"id":"e","type":"x","created":{created}}}"#);
        assert!(shape("created")(&parse(body.as_bytes())), "{created}");
    }
}

#[test]
fn deep_nesting_is_an_error_not_a_crash() {
    let body = format!(r#"{{"id":{}"#, "[".repeat(100_000));
    assert!(matches!(parse(body.as_bytes()), Err(EventError::NotJson { .. })));
}

/// Generates arbitrary JSON, often with the names and literals of real events.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "(paid|unpaid|payment|subscription|usd|cs_1|\\PC{0,8})".prop_map(Value::from),
    ];
    let name = "(id|mode|payment_status|amount_total|currency|metadata|orderId|payment_intent|customer|refunded|amount_refunded|last_payment_error|message|parent|subscription_details|subscription)";
    leaf.prop_recursive(3, 24, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::hash_map(name, inner, 0..8).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(body: Vec<u8>) {
        let _ = parse(&body);
    }

    #[test]
    fn no_object_makes_it_panic_and_amounts_are_never_negative(
        kind in "(checkout\\.session\\.(completed|expired|async_payment_succeeded|async_payment_failed)|payment_intent\\.payment_failed|charge\\.refunded|invoice\\.paid|invoice_payment\\.paid|customer\\.subscription\\.deleted)",
        object in anything(),
    ) {
        if let Ok(event) = read(&kind, &object) {
            match event.effect {
                PaymentEffect::Paid { amount_cents, .. } => prop_assert!(amount_cents.is_none_or(|cents| cents >= 0)),
                PaymentEffect::Refunded { amount_refunded_cents, .. } => prop_assert!(amount_refunded_cents >= 0),
                _ => {}
            }
        }
    }
}
