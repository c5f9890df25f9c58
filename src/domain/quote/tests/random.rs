//! Quotes under random operations in any order: the agreed terms stay unchanged.

use proptest::prelude::*;

use super::*;
use crate::tax::tax_of;

fn any_line() -> impl Strategy<Value = DraftLine> {
    let kind = prop_oneof![Just(0), Just(1), Just(2)];
    (1u32..1000, 0i64..1_000_000, kind).prop_map(|(quantity, cents, kind)| match kind {
        0 => line(quantity, cents),
        1 => cube(quantity, Some("PLA")),
        _ => DraftLine { sku_id: None, printed: false, ..line(quantity, cents) },
    })
}

fn any_command() -> impl Strategy<Value = (QuoteCommand, i64)> {
    let source = SliceSource { model_file_id: id(FILE), profile: "PLA".to_owned(), copies: 1 };
    let sliced = (1i64..1_000_000, 1i64..1_000_000).prop_map(move |(milligrams, seconds)| QuoteCommand::Sliced {
        source: source.clone(),
        news: QuoteSlicingOutcome::Done(SlicedModel { gcode_file_id: id(401), grams: Amount(milligrams), seconds }),
    });
    let change = prop::collection::vec(any_line(), 1..5).prop_map(|lines| QuoteCommand::Update {
        if_version: None,
        patch: Box::new(QuotePatch { lines: Some(lines), ..QuotePatch::default() }),
    });
    let command = prop_oneof![
        sliced,
        change,
        Just(QuoteCommand::Send(Language::English)),
        Just(QuoteCommand::Accept),
        Just(QuoteCommand::Decline { reason: None }),
        Just(QuoteCommand::Archive),
        Just(QuoteCommand::Ordered),
        Just(QuoteCommand::NotOrdered("gone".to_owned())),
    ];
    (command, 0i64..4 * DAY_MS)
}

proptest! {
    #[test]
    fn what_was_sent_is_what_is_agreed_on(
        lines in prop::collection::vec(any_line(), 1..5), life in prop::collection::vec(any_command(), 0..30), shipping in 0i64..5000,
        bps in 0i64..3000,
    ) {
        let mut desk = Desk { bench: Bench::new(), quote: None };
        desk.bench.rules.shipping_flat_cents = shipping;
        desk.bench.rules.tax_rates = vec![TaxRate { country: "DE".to_owned(), region: None, bps }];
        desk.ask(&QuoteCommand::Create(Box::new(draft(lines)))).unwrap();
        let mut agreed: Option<Quote> = None;
        for (command, later) in life {
            desk.bench.now = desk.bench.now.plus_ms(later);
            let before = desk.q().clone();
            let outcome = desk.ask(&command);
            let now = desk.q();
            let net: i64 = now.lines.iter().map(|line| line.unit_price_cents * i64::from(line.quantity)).sum();
            prop_assert_eq!(now.subtotal_cents, net);
            prop_assert_eq!(now.tax_cents, tax_of(net + now.shipping_cents, now.tax_rate_bps).unwrap());
            prop_assert_eq!(now.total_cents, net + now.shipping_cents + now.tax_cents);
            if outcome.is_err() {
                prop_assert_eq!(now, &before);
            }
            if let Some(agreed) = &agreed {
                prop_assert_eq!((&now.lines, now.total_cents, now.valid_until), (&agreed.lines, agreed.total_cents, agreed.valid_until));
                prop_assert!(agreed.order_id.is_none() || now.order_id == agreed.order_id, "an order never changes");
                prop_assert!(!now.archived && now.status != QuoteStatus::Draft);
            }
            if now.status == QuoteStatus::Accepted && before.status != QuoteStatus::Accepted {
                prop_assert!(desk.bench.now < now.valid_until.unwrap(), "nothing is accepted too late");
            }
            prop_assert_eq!(now.order_id.is_some(), now.status == QuoteStatus::Accepted);
            prop_assert!(now.status == QuoteStatus::Draft || now.lines.iter().all(|line| line.sku_id.is_some() == line.printed));
            if now.status != QuoteStatus::Draft {
                agreed = Some(now.clone());
            }
        }
    }
}
