//! Effects through which an order interacts with SKUs, materials, the slicer, printers and the payment processor.

#[cfg(doc)]
use super::OrderNews;
use super::{InvoicedMoney, LedgerEffect};
use crate::id::Id;
use crate::job::Resolution;
use crate::material::{ClaimRequest, SettledClaim};
use crate::slice_source::SliceSource;

/// External work that the order's state requires. Each effect is repeated, even after a restart, until the state no
/// longer requires it, so receivers must accept repeats.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum OrderEffect {
    /// Reads a SKU and its file for the CREATED jobs that produce it, until [`OrderNews::Prepared`] is recorded; if the
    /// SKU has no file, waits until it has one.
    Prepare {
        /// SKU to read.
        sku: Id,
    },
    /// Slices the jobs' models to G-code, until [`OrderNews::Slicing`] reports the outcome.
    Slice {
        /// SKU that is produced.
        sku: Id,
        /// Source of the G-code.
        source: SliceSource,
    },
    /// Claims stock of a material, until the material responds with [`OrderNews::Stock`].
    Claim {
        /// Material to claim.
        material: Id,
        /// Claims, one for each job that needs the material.
        asks: Vec<ClaimRequest>,
    },
    /// Reports settled claims to a material, until [`OrderNews::Settled`] is recorded.
    Settle {
        /// Material to notify.
        material: Id,
        /// Settled claims with the amounts consumed.
        claims: Vec<SettledClaim>,
    },
    /// Assigns a claimed attempt to its printer, until the printer reports on the attempt. A refusal by the printer is
    /// recorded as such a report.
    Give {
        /// Job to print.
        job: Id,
        /// Attempt to assign.
        attempt: Id,
        /// Printer that was claimed.
        printer: Id,
    },
    /// Asks the printer to cancel an attempt, until it reports the end. A printer that responds that it does not have
    /// the attempt will never accept it later, which counts as `CancelledBeforeStart`.
    CancelAt {
        /// Attempt to cancel.
        attempt: Id,
        /// Printer claimed for the attempt.
        printer: Id,
    },
    /// Notifies the printer of an operator's resolution of an attempt (`resolve`, or a forced cancel), until a final
    /// report on the attempt arrives. A printer that does not have the attempt counts as having reported
    /// `CancelledBeforeStart`.
    TellResolution {
        /// Attempt that was resolved.
        attempt: Id,
        /// Printer claimed for the attempt.
        printer: Id,
        /// Operator's resolution.
        outcome: Resolution,
    },
    /// Notifies the order's invoice of payments and refunds, until [`OrderNews::InvoiceTold`] is recorded.
    TellInvoice {
        /// Invoice to notify.
        invoice: Id,
        /// Current money state.
        money: InvoicedMoney,
    },
    /// Issues the invoice that is on hold for lack of the seller's name and address, until [`OrderNews::IssueInvoice`]
    /// has created it.
    IssueInvoice,
    /// Reports the shipments of an order sold by another shop to its channel order, until [`OrderNews::ShopTold`] is
    /// recorded.
    TellShop {
        /// Channel order to notify.
        channel_order: Id,
        /// Number of shipments sent so far.
        shipments: u32,
        /// `true` if no further shipment will follow.
        last: bool,
    },
    /// Stores the departures that were traced when the order was loaded, with [`OrderNews::KeepDepartures`].
    KeepDepartures,
    /// External work that the ledger requires at the payment processor.
    Ledger(LedgerEffect),
}
