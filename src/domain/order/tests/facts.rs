//! Facts about an order: its names, its readers, its price, and its payment terms.

use super::*;
use crate::aggregate::NewAggregate as _;
use crate::invoice::OrderPaymentSummary;
use crate::ledger::LedgerStage;

fn placed() -> Order {
    OrderDecider::with(new_order(vec![line(1, 500, true)])).order.unwrap()
}

fn paid() -> Order {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    desk.pay();
    desk.order.unwrap()
}

#[test]
fn each_status_has_its_name_and_says_whether_money_is_awaited_or_all_is_over() {
    use LedgerStage as L;
    use OrderStatus as S;
    let table = [
        (S::Draft, "draft", L::Payable, false),
        (S::Created, "created", L::Payable, false),
        (S::PaymentFailed, "payment_failed", L::Payable, false),
        (S::Paid, "paid", L::Paid, false),
        (S::Printing, "printing", L::Paid, false),
        (S::Ready, "ready", L::Paid, false),
        (S::Shipped, "shipped", L::Paid, false),
        (S::Cancelled, "cancelled", L::Closed, true),
        (S::Refunded, "refunded", L::Closed, true),
    ];
    for (status, name, stage, is_over) in table {
        let mut order = Order { status, ..placed() };
        assert_eq!(status.to_string(), name);
        assert_eq!(serde_json::to_value(status).unwrap(), name, "as it is stored");
        let terms = order.terms();
        assert_eq!((terms.stage, terms.status.as_str(), terms.total_cents), (stage, name, 500));
        assert_eq!((terms.owner_id, terms.kind, terms.currency.as_str()), (id(ORDER_ID), "order", "usd"));
        assert_eq!(order.due_cents(), if stage == L::Payable { 500 } else { 0 }, "{name}");
        assert_eq!(order.is_over(), is_over, "{name}");
        order.ledger.kept_cents = 1;
        assert_eq!(order.is_over(), status == S::Refunded, "{name}, with money that is due back");
    }
    let running = Order { status: S::Refunded, ..OrderDecider::sliced().order.unwrap() };
    assert!(!running.is_over(), "a job is not over");
}

#[test]
fn only_a_draft_that_nobody_agreed_to_or_paid_for_has_no_price_yet() {
    let draft = || Order { status: OrderStatus::Draft, ..placed() };
    let paid = paid();
    assert!(draft().is_unpriced());
    let priced = [
        placed(),
        Order { kind: OrderKind::Custom, ..draft() },
        Order { sold: Some(super::channel_sale::sold().sold), ..draft() },
        Order { ledger: paid.ledger, ..draft() },
        Order { invoice: paid.invoice, ..draft() },
    ];
    for order in priced {
        assert!(!order.is_unpriced(), "{order:?}");
    }
}

#[test]
fn staff_read_every_order_and_customers_their_own() {
    let key = |role, email: Option<&str>, number: u32| Principal::Key {
        id: id(number),
        name: "shop".to_owned(),
        role,
        customer_email: email.map(str::to_owned),
    };
    let customer = |email: &str| Principal::Customer { id: id(70), email: email.to_owned() };
    let user = |role| Principal::User { id: id(71), email: "floor@example.com".to_owned(), role };
    let made_by = 77;
    let order = Order { made_by: Some(id(made_by)), ..placed() };
    let table = [
        (Principal::System, true),
        (Principal::Machine, true),
        (Principal::Agent { user: "telegram:1".to_owned() }, true),
        (Principal::Anonymous, false),
        (user(Role::Operator), true),
        (user(Role::Admin), true),
        (user(Role::Customer), false),
        (customer("ann@example.com"), true),
        (customer("bob@example.com"), false),
        (key(Role::Operator, None, 1), true),
        (key(Role::Admin, Some("bob@example.com"), 1), true),
        (key(Role::Customer, Some("ann@example.com"), 1), true),
        (key(Role::Customer, Some("bob@example.com"), made_by), false),
        (key(Role::Customer, None, made_by), true),
        (key(Role::Customer, None, 1), false),
    ];
    for (by, may) in table {
        assert_eq!(order.visible_to(&by), may, "{by:?}");
    }
    let nobodys = Order { customer_email: None, made_by: None, ..order };
    assert!(!nobodys.visible_to(&customer("")) && !nobodys.visible_to(&key(Role::Customer, None, made_by)));
}

#[test]
fn the_payment_page_names_the_order_and_its_customer() {
    let order = Order { number: 123, revision: 7, ..paid() };
    assert_eq!((order.number_text(), order.title()), ("ORD-000123".to_owned(), "Order ORD-000123".to_owned()));
    assert_eq!(order.payer().map(String::as_str), Some("ann@example.com"));
    let names = [("orderId", id(ORDER_ID).to_string()), ("orderNumber", "ORD-000123".to_owned())];
    assert_eq!(order.metadata(), names.map(|(name, value)| (name.to_owned(), value)));
    assert_eq!((order.ledger().payments.len(), order.ledger().kept_cents), (1, 500));
    assert_eq!(order.revision(), Some(7));
    assert_eq!(Order { customer_email: None, ..order }.payer(), None);
}

#[test]
fn mails_are_in_the_language_of_the_buyer() {
    let buyer = Party { language: Language::German, ..Party::default() };
    assert_eq!(placed().language(), Language::English);
    assert_eq!(Order { buyer: Some(buyer), ..placed() }.language(), Language::German);
}

#[test]
fn the_balance_of_an_older_release_is_counted_from_its_payments() {
    let mut order = paid();
    order.ledger.kept_cents = 0;
    order.count_kept();
    assert_eq!(order.ledger.kept_cents, 500);
}

#[test]
fn the_invoice_is_told_again_whenever_something_about_the_money_differs() {
    let mut order = paid();
    let reported =
        InvoicedMoney { payments: 1, kept_cents: 500, failed_cents: 0, paid: true, refunded: false, cancelled: false };
    assert_eq!((order.money_in_short(), order.tell_invoice()), (reported, None));
    let summary = OrderPaymentSummary {
        version: 9,
        kept_cents: 500,
        received_cents: 500,
        paid_at: order.paid_at,
        refunded: false,
        cancelled: false,
        payments: order.ledger.payments.clone(),
    };
    assert_eq!(order.money_at(9), summary);
    let invoice = order.invoice.unwrap().id;
    for (status, refunded, cancelled) in [(OrderStatus::Refunded, true, false), (OrderStatus::Cancelled, false, true)] {
        order.status = status;
        let money = InvoicedMoney { refunded, cancelled, ..reported };
        assert_eq!(order.tell_invoice(), Some(OrderEffect::TellInvoice { invoice, money }));
        let at = order.money_at(9);
        assert_eq!((at.refunded, at.cancelled), (refunded, cancelled));
    }
    (order.status, order.ledger.payments[0].failed_cents) = (OrderStatus::Paid, 7);
    let money = InvoicedMoney { failed_cents: 7, ..reported };
    assert_eq!(order.tell_invoice(), Some(OrderEffect::TellInvoice { invoice, money }));
    order.invoice = None;
    assert_eq!(order.tell_invoice(), None);
    let unpaid = InvoicedMoney { payments: 0, kept_cents: 0, paid: false, ..reported };
    assert_eq!(placed().money_in_short(), unpaid);
}

#[test]
fn a_commit_names_the_invoice_and_the_mails_that_it_creates() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    let decision = desk.pay();
    let named: Vec<(&str, Id)> = decision.created.iter().map(|created| (created.kind(), created.id())).collect();
    assert!(named.contains(&("invoice", desk.o().invoice.unwrap().id)), "{named:?}");
    let receipts: Vec<(&str, Id)> = mails(&decision).into_iter().map(|mail| ("mail", mail.id)).collect();
    assert!(!receipts.is_empty() && receipts.iter().all(|receipt| named.contains(receipt)), "{named:?}");
}

#[test]
fn a_part_needs_its_first_material_and_all_others() {
    let mut make = line(1, 500, true).make.unwrap();
    make.further = vec![need(5, 1), need(4, 1)];
    assert_eq!(make.materials().collect::<Vec<_>>(), [id(MATERIAL_ID), id(5), id(4)]);
}
