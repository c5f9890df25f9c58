//! The effects by which an order works with SKUs, materials, the slicer, printers and the payment processor.

#[cfg(doc)]
use super::OrderCommand;
use super::{InvoiceTold, LedgerEffect};
use crate::domain::id::Id;
use crate::domain::job::Resolution;
use crate::domain::material::{ClaimAsk, SettledClaim};
use crate::domain::slice_source::SliceSource;

/// Work outside the order that its state calls for. Each effect is repeated, also after a restart, until the order's
/// state no longer calls for it, so its receiver must accept repeats.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum OrderEffect {
    /// Read a SKU and its file for the CREATED jobs that make it, until [`OrderCommand::Prepared`] is recorded; while
    /// there is no file, wait for the SKU to get one.
    Prepare {
        /// The SKU to read.
        sku: Id,
    },
    /// Have the G-code of jobs sliced, until [`OrderCommand::Slicing`] says how it went.
    Slice {
        /// The SKU that is made.
        sku: Id,
        /// What its G-code is made from.
        source: SliceSource,
    },
    /// Claim stock of a material, until it answers with [`OrderCommand::Stock`].
    Claim {
        /// The material to ask.
        material: Id,
        /// One claim for each job that needs this material.
        asks: Vec<ClaimAsk>,
    },
    /// Tell a material that claims are done with, until [`OrderCommand::Settled`] is recorded.
    Settle {
        /// The material to tell.
        material: Id,
        /// The claims, with what was consumed of each.
        claims: Vec<SettledClaim>,
    },
    /// Give a claimed attempt to its printer, until the printer reports on it. A printer that does not accept it is
    /// recorded as a report on the attempt.
    Give {
        /// The job to print.
        job: Id,
        /// The attempt to give.
        attempt: Id,
        /// The printer that was claimed.
        printer: Id,
    },
    /// Ask the printer to cancel an attempt, until it reports the end. A printer that answers that it does not have
    /// the attempt will never accept it later, which counts as `CancelledBeforeStart`.
    CancelAt {
        /// The attempt to cancel.
        attempt: Id,
        /// The printer that was claimed for it.
        printer: Id,
    },
    /// Tell the printer an operator's decision on an attempt (`resolve`, or a forced cancel), until a final report on
    /// the attempt comes back. A printer that does not have the attempt counts as having reported
    /// `CancelledBeforeStart`.
    TellResolution {
        /// The attempt that was decided.
        attempt: Id,
        /// The printer that was claimed for it.
        printer: Id,
        /// What the operator saw of the print.
        outcome: Resolution,
    },
    /// Tell the order's invoice what was paid, until [`OrderCommand::InvoiceTold`] is recorded.
    TellInvoice {
        /// The one to tell.
        invoice: Id,
        /// The money as it is now.
        told: InvoiceTold,
    },
    /// Issue the invoice that waits for the seller's name and address, until [`OrderCommand::IssueInvoice`] has made
    /// it.
    IssueInvoice,
    /// Tell what has left to the record of the order that another shop sold, until [`OrderCommand::ShopTold`].
    TellShop {
        /// The record.
        channel_order: Id,
        /// How many shipments have left.
        shipments: u32,
        /// Whether nothing more leaves.
        last: bool,
    },
    /// What its ledger calls for at the payment processor.
    Ledger(LedgerEffect),
}
