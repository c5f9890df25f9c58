//! Effects through which an order interacts with SKUs, materials, the slicer, printers and the payment processor.

#[cfg(doc)]
use super::OrderNews;
use super::{InvoicedMoney, LedgerEffect};
use crate::id::Id;
use crate::job::Resolution;
use crate::material::{ClaimRequest, SettledClaim};
use crate::slice_source::SliceSource;

/// External work required by the order's state. Each effect is retried, even after a restart, until the state no longer
/// requires it, so receivers must accept duplicates.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum OrderEffect {
    /// Reads a SKU and its file for the CREATED jobs that produce it, until [`OrderNews::Prepared`] is recorded. If the
    /// SKU has no file, waits until one is added.
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
        /// Claims, one per job that needs the material.
        asks: Vec<ClaimRequest>,
    },
    /// Reports settled claims to a material, until [`OrderNews::Settled`] is recorded.
    Settle {
        /// Material to notify.
        material: Id,
        /// Settled claims with the amounts consumed.
        claims: Vec<SettledClaim>,
    },
    /// Assigns a claimed attempt to its printer, until the printer reports on the attempt. A rejection by the printer
    /// is recorded as such a report.
    Give {
        /// Job to print.
        job: Id,
        /// Assigned attempt.
        attempt: Id,
        /// Claimed printer.
        printer: Id,
    },
    /// Asks the printer to cancel an attempt, until it reports the end. If the printer responds that it does not have
    /// the attempt, it will never accept it later, which is treated as `CancelledBeforeStart`.
    CancelAt {
        /// Attempt that the printer must cancel.
        attempt: Id,
        /// Printer claimed for the attempt.
        printer: Id,
    },
    /// Notifies the printer of an operator's resolution of an attempt (`resolve`, or a forced cancel), until a final
    /// report on the attempt arrives. If the printer does not have the attempt, this is treated as
    /// `CancelledBeforeStart`.
    TellResolution {
        /// Resolved attempt.
        attempt: Id,
        /// Printer claimed for the attempt.
        printer: Id,
        /// The operator's resolution.
        outcome: Resolution,
    },
    /// Notifies the order's invoice of payments and refunds, until [`OrderNews::InvoiceTold`] is recorded.
    TellInvoice {
        /// Invoice to notify.
        invoice: Id,
        /// Current payment state.
        money: InvoicedMoney,
    },
    /// Issues the invoice that is on hold because the seller's name or address is missing, until
    /// [`OrderNews::IssueInvoice`] has created it.
    IssueInvoice,
    /// Reports the shipments of an order sold by a different shop to its channel order, until [`OrderNews::ShopTold`]
    /// is recorded.
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
    /// External work required by the ledger at the payment processor.
    Ledger(LedgerEffect),
}
