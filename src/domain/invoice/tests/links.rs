//! Tests of pay links, and of invoices for subscriptions.

use super::super::*;
use super::{Desk, draft, id, issued_by, line, refused};
use crate::aggregate::Command as _;
use crate::refusal::Class;
use crate::testing::Bench;

const SECRET: &str = "a secret that has more than thirty-two characters";

#[test]
fn a_token_names_its_invoice_and_nobody_makes_one_without_the_secret() {
    let token = pay_token(SECRET, id(7), 3);
    assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'), "{token}");
    assert_eq!(read_pay_token(SECRET, &token), Some((id(7), 3)));
    assert_eq!(read_pay_token("another", &token), None);
    for n in 0..token.len() {
        let mut other = token.clone().into_bytes();
        other[n] = if other[n] == b'A' { b'B' } else { b'A' };
        // The last character has bits that stand for nothing; a strict reader refuses them, none may lead elsewhere.
        let read = read_pay_token(SECRET, std::str::from_utf8(&other).unwrap());
        assert!(read.is_none(), "{n}");
    }
    for nonsense in ["", "A", &token[..token.len() - 1], &format!("{token}A"), &"A".repeat(5000), "ü"] {
        assert_eq!(read_pay_token(SECRET, nonsense), None);
    }
}

#[test]
fn a_link_leads_to_its_invoice_until_it_ends() {
    let mut desk = Desk::with(draft(vec![line(1, 1000, 0)]));
    let open = |expires_at| InvoiceCommand::OpenPayLink { expires_at };
    assert_eq!(refused(desk.ask(&open(None))), "not_issued");
    desk.ask(&InvoiceCommand::Send).unwrap();
    let now = desk.bench.now;
    assert_eq!(refused(desk.ask(&open(Some(now)))), "validation_failed");
    desk.ask(&open(Some(now.plus_ms(1000)))).unwrap();
    let class = |desk: &Desk, number, at| desk.i().linked_by(number, at).err().map(|refusal| refusal.class);
    assert_eq!((class(&desk, 1, now), desk.i().standing_link(now)), (None, Some(1)));
    for unknown in [0, 2] {
        assert_eq!(class(&desk, unknown, now), Some(Class::NotFound));
    }
    assert_eq!(class(&desk, 1, now.plus_ms(1000)), Some(Class::Gone));
    assert_eq!(desk.i().standing_link(now.plus_ms(1000)), None);
    desk.ask(&open(None)).unwrap();
    assert_eq!((class(&desk, 1, now), class(&desk, 2, now)), (Some(Class::Gone), None), "another one revokes it");
    desk.ask(&InvoiceCommand::ClosePayLink).unwrap();
    assert!(desk.ask(&InvoiceCommand::ClosePayLink).unwrap().next.is_none());
    assert_eq!(class(&desk, 2, now), Some(Class::Gone));
    desk.ask(&open(None)).unwrap();
    desk.ask(&InvoiceCommand::Void).unwrap();
    assert_eq!(class(&desk, 3, now), Some(Class::Gone));
    assert_eq!(refused(desk.ask(&open(None))), "invalid_transition");
}

fn period(amount_cents: i64, lines: &[(u32, i64)]) -> InvoiceCommand {
    let line = |(quantity, amount_cents): &(u32, i64)| ChargedLine {
        description: "Filament box".to_owned(),
        quantity: *quantity,
        amount_cents: *amount_cents,
    };
    InvoiceCommand::Charge(Box::new(ChargedPeriod {
        buyer: Party { name: "Ann".to_owned(), ..Party::default() },
        customer_email: Some("ann@example.org".to_owned()),
        amount_cents,
        currency: "eur".to_owned(),
        lines: lines.iter().map(line).collect(),
        processor_invoice: "in_1".to_owned(),
        intent: None,
        number: "SIM-0001".to_owned(),
    }))
}

#[test]
fn a_charged_period_is_issued_and_paid_once() {
    let (bench, mut invoice) = (Bench::new(), None::<Invoice>);
    let decision = bench.tell(&mut invoice, id(1), &period(5000, &[(2, 4000), (1, 1000)])).unwrap();
    let issued: Vec<IssuedDocument> = issued_by(&decision.rows).collect();
    let current = invoice.clone().unwrap();
    assert_eq!((current.status, current.ledger.kept_cents, issued.len()), (InvoiceStatus::Paid, 5000, 1));
    assert_eq!((current.content.lines[0].unit_price_cents, current.content.sums.total_cents), (2000, 5000));
    assert!(bench.tell(&mut invoice, id(1), &period(5000, &[])).unwrap().next.is_none(), "told twice");
    // Its payment is named later, and a refund finds it.
    let paid = crate::ledger::PaymentUpdate::Paid {
        amount_cents: None,
        currency: None,
        session: Some("in_1".to_owned()),
        intent: Some("pi_1".to_owned()),
    };
    bench.tell(&mut invoice, id(1), &InvoiceCommand::Ledger(LedgerCommand::Payment(paid))).unwrap();
    let current = invoice.clone().unwrap();
    assert_eq!((current.ledger.payments.len(), current.ledger.payments[0].reference.as_deref()), (1, Some("pi_1")));
    assert_eq!(current.flags, Vec::<String>::new());
    // Parts that do not add up, or that take something back, make one line over what was charged.
    for lines in [&[(1, 4999)][..], &[(1, 6000), (1, -1000)], &[]] {
        let mut other = None::<Invoice>;
        bench.tell(&mut other, id(2), &period(5000, lines)).unwrap();
        let other = other.unwrap();
        assert_eq!((other.content.lines.len(), other.content.sums.total_cents), (1, 5000), "{lines:?}");
    }
    assert!(InvoiceCommand::Send.decide(None, id(3), &bench.cx()).is_err());
}

#[test]
fn a_charged_line_has_a_unit_price_only_if_its_amount_divides_into_one() {
    let cases = [
        (&[(2, 4000), (1, 1000)][..], vec![(2, 2000), (1, 1000)]),
        (&[(3, 4000), (1, 1000)][..], vec![(1, 4000), (1, 1000)]),
        (&[(0, 5000)][..], vec![(1, 5000)]),
        (&[(1, 0), (5, 5000)][..], vec![(1, 0), (5, 1000)]),
    ];
    for (lines, expected) in cases {
        let mut invoice = None::<Invoice>;
        Bench::new().tell(&mut invoice, id(1), &period(5000, lines)).unwrap();
        let content = invoice.unwrap().content;
        let priced: Vec<_> = content.lines.iter().map(|line| (line.quantity, line.unit_price_cents)).collect();
        assert_eq!(priced, expected, "{lines:?}");
        assert!(content.lines.iter().all(|line| line.description == "Filament box"));
    }
}
