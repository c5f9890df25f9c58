//! Prints of a printer that books its own extrusion on a spool in the other system.

use super::model::{Fault, Shop};
use super::*;
use crate::id::Id;
use crate::material::{ClaimId, ClaimNews, ClaimRequest, ClaimState, ClaimStock, SettledClaim};
use crate::parts_sync::SpoolRemainder;
use crate::testing::id;
use crate::time::Timestamp;

/// First ID of prints, far above the IDs of other objects.
const FIRST_PRINT: u32 = 1_000;

/// Print in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Print {
    pub(super) spool: i64,
    pub(super) claim: ClaimId,
    /// Consumption recorded in the shop's stock.
    pub(super) stated: Amount,
    /// Actual consumption still to come.
    pub(super) left: Amount,
}

impl Shop {
    /// Begins a print, unless one is in progress or the stock does not allow it.
    pub(super) fn begin_print(&mut self, spool: i64, stated: Amount, really: Amount) {
        if self.printing.is_some() || !self.there.items.contains_key(&spool) {
            return;
        }
        self.prints += 1;
        let claim = ClaimId { job: id(FIRST_PRINT + self.prints), number: 1 };
        let since = Timestamp(0);
        let ask = ClaimRequest { id: claim, need: stated, released: true, priority: 5, due_at: None, since };
        self.tell(&ClaimStock { order: id(100), asks: vec![ask] }).unwrap();
        let held = self.now().claims.get(&claim).is_some_and(|one| one.state == ClaimState::Held);
        if held {
            self.printing = Some(Print { spool, claim, stated, left: really });
        } else {
            self.settle_print(claim, Amount::ZERO, Vec::new());
        }
    }

    /// Extrudes the given number of thousandths of the print's remaining consumption, and books it in the other system.
    pub(super) fn extrude(&mut self, thousandths: i64) {
        let Some(print) = &mut self.printing else { return };
        let part = print.left.scaled(thousandths as f64 / 1000.0).min(print.left);
        print.left -= part;
        let spool = print.spool;
        if part > Amount::ZERO && self.there.items.contains_key(&spool) {
            self.they_change(spool, -part);
            // A length is no whole number of milligrams: no digits are left of what was booked before.
            let noise = Id(uuid::Uuid::from_u128((u128::from(self.prints) << 96) | part.0 as u128));
            self.there.stamps.insert(spool, noise);
        }
    }

    /// Ends the print, which deducts its consumption from the shop's stock. Part of the consumption is reported to the
    /// other system only afterwards.
    pub(super) fn end_print(&mut self, thousandths: i64) {
        self.extrude(thousandths);
        let Some(print) = self.printing else { return };
        self.settle_print(print.claim, print.stated, vec![print.spool]);
        self.extrude(1000);
        self.printing = None;
    }

    /// Settles a print's claim. It counts as the shop's own change only if no printer books it in the other system.
    pub(super) fn settle_print(&mut self, id: ClaimId, consumed: Amount, booked_on: Vec<i64>) {
        self.tell(&ClaimNews::Settle { claims: vec![SettledClaim { id, consumed, booked_on }] }).unwrap();
    }
}

pub(super) fn agreed_shop() -> Shop {
    let mut shop = Shop::new(StockSystem::Spools, 300, &[100, 200]);
    shop.round(Fault::None, None);
    shop.agree(RightSide::Ours).unwrap();
    shop
}

#[test]
fn what_a_printer_books_by_itself_is_booked_once() {
    let mut shop = agreed_shop();
    shop.begin_print(2, Amount::units(30), Amount::units(29));
    shop.extrude(500);
    shop.round(Fault::None, None);
    assert_eq!(shop.now().quantity, Amount::units(300), "it is still reserved, and taken over at the end");
    shop.end_print(1000);
    assert_eq!(shop.now().quantity, Amount::units(270));
    assert_eq!(shop.current_link().knows(2, shop.now().quantity), Some(SpoolRemainder::Settled(Amount::units(170))));
    shop.round(Fault::None, None);
    assert_eq!(
        (shop.now().quantity, shop.there.total()),
        (Amount::units(271), Amount::units(271)),
        "as it was measured"
    );
    assert_eq!((shop.current_link().pending.clone(), shop.conflict()), (None, None));
}

#[test]
fn a_spool_that_nobody_read_before_is_settled_by_the_next_look() {
    let mut shop = agreed_shop();
    shop.there.items.insert(9, (Amount::units(1000), Amount::ZERO));
    shop.truth += Amount::units(1000);
    shop.begin_print(9, Amount::units(30), Amount::units(30));
    shop.end_print(1000);
    shop.round(Fault::None, None);
    assert_eq!((shop.now().quantity, shop.there.total()), (Amount::units(1270), Amount::units(1270)));
    assert!(shop.current_link().unread_uses.is_empty());
}

#[test]
fn a_spool_of_another_filament_leaves_the_booking_to_us() {
    let mut shop = agreed_shop();
    shop.begin_print(2, Amount::units(30), Amount::ZERO);
    let print = shop.printing.take().unwrap();
    shop.settle_print(print.claim, print.stated, vec![77]);
    shop.round(Fault::None, None);
    assert_eq!((shop.now().quantity, shop.there.total()), (Amount::units(270), Amount::units(270)), "booked by us");
}

#[test]
fn nothing_is_booked_on_a_spool_that_is_printed_from() {
    let mut shop = agreed_shop();
    shop.begin_print(2, Amount::units(10), Amount::units(10));
    shop.adjust(Amount::units(-150));
    shop.round(Fault::None, None);
    assert_eq!((shop.there.items[&1].0, shop.there.items[&2].0), (Amount::ZERO, Amount::units(200)));
    assert_eq!(shop.conflict(), None, "the rest waits for the end of the print");
    shop.quiet_down();
    assert_eq!((shop.now().quantity, shop.there.total()), (Amount::units(140), Amount::units(140)));
}
