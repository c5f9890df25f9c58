#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use sea_orm::DatabaseConnection;

use super::{OPEN_JOBS, OPEN_ORDERS, check};
use crate::memory::Tables;
use crate::rows::samples::{
    custom_request, file, id, job, material, members, number_gap, on_each, order, printer, quote, sku, write,
};
use crate::rows::{Batch, RowSink, Snapshot, StoredRow, WriteError};
use domain::amount::Amount;
use domain::custom_request::{CustomRequest, CustomRequestStatus};
use domain::file::File;
use domain::id::Id;
use domain::invoice::{InvoiceRow, IssuedDocument};
use domain::job::{FurtherNeed, Job, JobState};
use domain::launch::MaterialNeed;
use domain::order::{Order, OrderRow, OrderStatus};
use domain::printer::{Slot, SlotSource};
use domain::quote::{Quote, QuoteStatus};
use domain::requirement::{Referenced, Requirement};
use domain::restore::RestoreRow;
use domain::sku::{Component, SkuMaterial};
use domain::testing::invoices::document;
use domain::time::Timestamp;

async fn unused(db: &DatabaseConnection, what: Referenced, id: Id) -> bool {
    holds(db, Requirement::Unused { what, id }).await
}

async fn holds(db: &DatabaseConnection, requirement: Requirement) -> bool {
    match check(db, std::iter::once(&requirement)).await {
        Ok(()) => true,
        Err(WriteError::Unmet(unmet)) if unmet == requirement => false,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn what_is_named_by_what_is_not_over_is_in_use() {
    on_each(async |db| {
        let mut batch = Batch::default();
        batch.push_snapshot(material(200).snapshot(id(200), 1, false).unwrap());
        batch.push_snapshot(sku(300, "A-1").snapshot(id(300), 1, false).unwrap());
        let mut loaded = printer(500);
        loaded.fields.loaded_material_id = Some(id(201));
        batch.push_snapshot(loaded.snapshot(id(500), 1, false).unwrap());
        let mut several = sku(302, "A-2");
        several.fields.materials =
            vec![SkuMaterial { material_id: id(203), estimated_consumption: Amount::units(1), filament: 1 }];
        batch.push_snapshot(several.snapshot(id(302), 1, false).unwrap());
        let slot = |n, material| Slot {
            slot: n,
            material_id: Some(id(material)),
            color: None,
            remaining: None,
            source: SlotSource::Manual,
            vendor_code: None,
            kind: None,
            weighed: false,
            spool: None,
            updated_at: Timestamp(0),
        };
        let with_slots = printer(501).with_slots(vec![slot(0, 204), slot(1, 205)]);
        batch.push_snapshot(with_slots.snapshot(id(501), 1, false).unwrap());
        write(db, batch).await.unwrap();
        assert!(!unused(db, Referenced::File, id(400)).await, "a SKU's G-code");
        assert!(!unused(db, Referenced::File, id(401)).await, "a SKU's picture");
        assert!(unused(db, Referenced::File, id(402)).await);
        assert!(!unused(db, Referenced::Material, id(200)).await, "a SKU's");
        assert!(!unused(db, Referenced::Material, id(201)).await, "loaded in a printer");
        assert!(unused(db, Referenced::Material, id(202)).await);
        assert!(!unused(db, Referenced::Material, id(203)).await, "a further one of a SKU");
        assert!(!unused(db, Referenced::Material, id(205)).await, "in the second slot of a printer");
        assert!(unused(db, Referenced::Sku, id(300)).await);

        let mut batch = Batch::default();
        batch.push_snapshot(order(1).snapshot(id(1), 1, false).unwrap());
        let mut waits = job(10, 2);
        (waits.sku_id, waits.file_id) = (id(301), Some(id(403)));
        waits.further = vec![FurtherNeed::new(MaterialNeed { material_id: id(206), need: Amount::units(1) })];
        batch.push_row(&OrderRow::Job(Arc::new(waits))).unwrap();
        write(db, batch).await.unwrap();
        assert!(!unused(db, Referenced::Material, id(206)).await, "a further one of an unfinished job");
        assert!(!unused(db, Referenced::Sku, id(300)).await, "an unfinished order");
        assert!(!unused(db, Referenced::Sku, id(301)).await, "an unfinished job");
        assert!(!unused(db, Referenced::File, id(403)).await, "an unfinished job");

        let mut batch = Batch::default();
        batch.push_snapshot(Order { status: OrderStatus::Cancelled, ..order(1) }.snapshot(id(1), 2, true).unwrap());
        let over = Job { state: JobState::Cancelled, sku_id: id(301), ..job(10, 2) };
        batch.push_row(&OrderRow::Job(Arc::new(over))).unwrap();
        write(db, batch).await.unwrap();
        assert!(unused(db, Referenced::Sku, id(300)).await);
        assert!(unused(db, Referenced::Sku, id(301)).await);
    })
    .await;
}

#[tokio::test]
async fn what_a_quote_offers_is_in_use_while_it_can_be_accepted() {
    on_each(async |db| {
        let offering = |status| {
            let mut quote = Quote { status, ..quote(810) };
            quote.lines[0].sku_id = Some(id(300));
            quote
        };
        for (version, (status, is_free)) in
            [(QuoteStatus::Draft, true), (QuoteStatus::Sent, false), (QuoteStatus::Declined, true)]
                .into_iter()
                .enumerate()
        {
            let mut batch = Batch::default();
            batch.push_snapshot(offering(status).snapshot(id(810), version as i64 + 1, version > 0).unwrap());
            write(db, batch).await.unwrap();
            assert_eq!(unused(db, Referenced::Sku, id(300)).await, is_free, "{status}");
            assert!(unused(db, Referenced::Sku, id(301)).await);
        }
    })
    .await;
}

#[tokio::test]
async fn photos_of_a_custom_request_are_in_use_until_it_is_closed() {
    on_each(async |db| {
        let mut batch = Batch::default();
        batch.push_snapshot(custom_request(800).snapshot(id(800), 1, false).unwrap());
        write(db, batch).await.unwrap();
        assert!(!unused(db, Referenced::File, id(450)).await);
        assert!(unused(db, Referenced::File, id(700)).await, "no file but the customer");
        let mut batch = Batch::default();
        let closed = CustomRequest { status: CustomRequestStatus::Closed, ..custom_request(800) };
        batch.push_snapshot(closed.snapshot(id(800), 2, true).unwrap());
        write(db, batch).await.unwrap();
        assert!(unused(db, Referenced::File, id(450)).await);
    })
    .await;
}

#[tokio::test]
async fn only_what_was_deleted_is_told() {
    on_each(async |db| {
        let mut batch = Batch::default();
        batch.push_snapshot(file(400).snapshot(id(400), 1, false).unwrap());
        batch.push_snapshot(File { archived: true, ..file(401) }.snapshot(id(401), 1, true).unwrap());
        write(db, batch).await.unwrap();
        let named = |n| Requirement::not_deleted(Referenced::File, id(n), "gcodeFileId");
        assert!(holds(db, named(400)).await);
        assert!(!holds(db, named(401)).await);
        let both = [named(400), named(401)];
        let unmet = check(db, both.iter()).await;
        assert!(matches!(&unmet, Err(WriteError::Unmet(unmet)) if *unmet == both[1]), "{unmet:?}");
        // The same id among materials is another aggregate's.
        assert!(holds(db, Requirement::not_deleted(Referenced::Material, id(401), "materialId")).await);
    })
    .await;
}

#[tokio::test]
async fn a_kit_is_told_from_what_is_made_itself() {
    on_each(async |db| {
        let mut batch = Batch::default();
        batch.push_snapshot(sku(300, "A-1").snapshot(id(300), 1, false).unwrap());
        let mut kit = sku(301, "A-2");
        (kit.fields.material_id, kit.fields.gcode_file_id) = (None, None);
        kit.fields.components = vec![Component { sku_id: id(300), quantity: 2 }];
        batch.push_snapshot(kit.snapshot(id(301), 1, false).unwrap());
        write(db, batch).await.unwrap();
        let no_kit = |n| Requirement::NoKit { sku: id(n), member: "components.0.skuId".to_owned() };
        assert!(holds(db, no_kit(300)).await);
        assert!(!holds(db, no_kit(301)).await);
        assert!(!unused(db, Referenced::Sku, id(300)).await, "a kit's");
    })
    .await;
}

#[tokio::test]
async fn a_series_goes_on_only_behind_what_was_issued_and_what_other_restores_leave_out() {
    on_each(async |db| {
        let issued = |n, issued_at| {
            let invoice =
                IssuedDocument { id: id(n), invoice_id: id(1), issued_at, ..document(&[(1250, 2, 1900)], 0, 0) };
            InvoiceRow::Issued(Box::new(invoice))
        };
        let left_out = |n, restore, first, last| RestoreRow::Gap(number_gap(n, restore, first, last));
        let mut tables = Tables::default();
        let rows: [Box<dyn StoredRow>; 4] = [
            Box::new(left_out(50, 60, 1, 100)),
            Box::new(issued(1_000, Timestamp(1_700_000_000_000))),
            Box::new(left_out(51, 61, 102, 200)),
            Box::new(issued(1_001, Timestamp(1_750_000_000_000))),
        ];
        for row in rows {
            let mut batch = Batch::default();
            batch.push_row(&*row).unwrap();
            write(db, batch).await.unwrap();
            row.write(&mut RowSink::memory(&mut tables)).unwrap();
        }
        for (series, next, restore, is_met) in [
            ("INV-2023", 101, 60, false),
            ("INV-2023", 102, 60, false),
            ("INV-2023", 200, 60, false),
            ("INV-2023", 201, 60, true),
            // Its own gap does not count, but the document before it does.
            ("INV-2023", 101, 61, false),
            ("INV-2023", 102, 61, true),
            ("INV-2025", 1, 60, false),
            ("INV-2025", 2, 60, true),
            ("CN-2023", 1, 60, true),
        ] {
            let (series, member) = (series.to_owned(), format!("next.{series}"));
            let unissued = Requirement::Unissued { series, next, restore: id(restore), member };
            assert_eq!(tables.meet(&unissued), is_met, "in memory: {unissued:?}");
            assert_eq!(holds(db, unissued.clone()).await, is_met, "{unissued:?}");
        }
    })
    .await;
}

#[test]
fn open_orders_and_jobs_are_those_that_have_not_ended() {
    let is_open_order = |status: &OrderStatus| match status {
        OrderStatus::Draft
        | OrderStatus::Created
        | OrderStatus::PaymentFailed
        | OrderStatus::Paid
        | OrderStatus::Printing
        | OrderStatus::Ready => true,
        OrderStatus::Shipped | OrderStatus::Cancelled | OrderStatus::Refunded => false,
    };
    let open: Vec<OrderStatus> = members().into_iter().filter(is_open_order).collect();
    assert_eq!(open, OPEN_ORDERS);
    let is_open_job = |state: &JobState| match state {
        JobState::Created
        | JobState::Validated
        | JobState::AwaitingManualReview
        | JobState::Sliced
        | JobState::Dispatching
        | JobState::Printing
        | JobState::Paused => true,
        JobState::Completed | JobState::Failed | JobState::Cancelled => false,
    };
    let open: Vec<JobState> = members().into_iter().filter(is_open_job).collect();
    assert_eq!(open, OPEN_JOBS);
}
