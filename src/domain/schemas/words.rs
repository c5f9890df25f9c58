//! Schemas for enumerations without data, which contain the names that `serde` reads and writes.

use api_schema::ToSchema;
use api_schema::shape::Shape;
use api_schema::words::word_of;

use crate::agent::Skill;
use crate::channel_order::{ChannelOrderStatus, TrackingState};
use crate::customer::AddressKind;
use crate::dispatch::WaitingCode;
use crate::endpoint::{DeliveryState, EndpointState};
use crate::event::OutboundEvent;
use crate::export::{ExportState, ExportType};
use crate::file::{FileKind, GcodeForm};
use crate::invoice::DocumentKind;
use crate::job::{AttemptState, Block, JobState};
use crate::kept_payment_event::UnmatchedKind;
use crate::mail::undelivered::MailFailure;
use crate::mail::{Channel, MailState};
use crate::material::{MaterialType, MovementKind};
use crate::order::{OrderKind, Resolution};
use crate::parts_sync::{ConflictKind, RightSide, StockSystem};
use crate::picture_format::PictureFormat;
use crate::posting::PostingState;
use crate::principal::Role;
use crate::printer::{Attention, SlotSource};
use crate::printer_status::{Activity, Connection, PrintEnd};
use crate::remedy::RemedyAct;
use crate::sku::MachineType;
use crate::timing::Timing;

/// Declares the named schema for each type, under the type's own name or under the name that follows it:
/// `Activity = "PrinterState"`. The doc comment before a type is the description of its schema.
macro_rules! words {
    ($($(#[doc = $doc:literal])* $type:ident $(= $name:literal)?,)+) => {$(
        impl ToSchema for $type {
            const NAME: Option<&'static str> = Some(words!(@name $type $($name)?));
            fn schema() -> Shape {
                word_of::<Self>().described(concat!($($doc),*).trim())
            }
        }
    )+};
    (@name $type:ident) => { stringify!($type) };
    (@name $type:ident $name:literal) => { $name };
}
words! {
    /// Activity of a printer; `offline` while it does not respond.
    Activity = "PrinterState",
    /// Purpose of an address.
    AddressKind,
    /// State of an attempt to print, or its outcome.
    AttemptState,
    /// Condition that prevents a printer from taking its next job until the condition ends or a user acts.
    Attention,
    /// Reason why a job awaits review: too little material, stock below its reorder point, or failed slicing.
    Block,
    /// Channel through which an email is sent: by email, or to the agent gateway, which knows its own recipients.
    Channel = "EmailChannel",
    /// Status of an order from a different shop.
    ChannelOrderStatus,
    /// Reason why a link needs a user's decision.
    ConflictKind,
    /// Connection between the server and a printer.
    Connection = "ConnectionState",
    /// State of a delivery, as used in list filters.
    DeliveryState,
    /// Type of an issued document: an invoice, or a credit note that reverses it in full or in part.
    DocumentKind,
    /// State of an endpoint, which is `disabled` manually or after a delivery was abandoned.
    EndpointState,
    /// State of an export, from its request to its deletion.
    ExportState,
    /// Type of records to export.
    ExportType,
    /// Purpose of a file, detected from its content.
    FileKind,
    /// Format of G-code: text, the binary format, or a sliced 3MF package.
    GcodeForm,
    /// State of a job, from `CREATED` to `COMPLETED`, `FAILED` or `CANCELLED`.
    JobState,
    /// Type of machine. A job is printed on the machine type specified by its SKU.
    MachineType,
    /// Reason why an email was not delivered. `rejected`: the mail server or service rejected it for good.
    /// `unsendable`: it cannot be sent as it is, for example because an address is invalid. `expired`: it would have
    /// been useless by the next attempt. `exhausted`: all attempts failed.
    MailFailure = "EmailFailure",
    /// State of an email. `failed`: not delivered, and on the to-do list. `dismissed`: not delivered, and removed from
    /// the to-do list by a user.
    MailState = "EmailState",
    /// Type of material, which determines the unit of amounts.
    MaterialType,
    /// Kind of a stock movement.
    MovementKind,
    /// Origin of an order, which never changes.
    OrderKind,
    /// Event type that endpoints can subscribe to; `/docs/events` explains when each event occurs.
    OutboundEvent,
    /// Image format, detected from the content.
    PictureFormat,
    /// State of the transfer of a document to the accounting system.
    PostingState,
    /// Outcome of a print, as reported by the printer.
    PrintEnd,
    /// Action by staff that would get an order ready on time. `raise_priority`: give the order the highest priority.
    /// `sign_off`: sign off the jobs. `resume`: resume the paused job. `clear_bed`: clear the bed of the printer.
    /// `retry`: retry the failed jobs. `load`: load the materials into the printer. `return_to_service`: return the
    /// printer to service.
    RemedyAct,
    /// Outcome of a print, as determined by a user.
    Resolution,
    /// Side whose count is correct: `theirs` sets the shop's stock to the count in the outside system, `ours` records
    /// the difference in the outside system.
    RightSide,
    /// Permissions of a caller; `admin` includes `operator`, which includes `customer`.
    Role,
    /// Action or query that the agent gateway can request.
    Skill,
    SlotSource,
    /// Outside system that counts stock: a parts management system, or a spool inventory.
    StockSystem,
    /// Timing of an order whose promise is outstanding. `late`: expected after the promised time or the due date,
    /// whichever is earlier, or the earlier of the two has passed. `at_risk`: expected within the last tenth of the
    /// promised span, or impossible to forecast. `on_time`: expected before that.
    Timing = "OrderTiming",
    /// State of notifying the other shop about a shipment.
    TrackingState,
    /// Kind of payment event that does not belong to any order.
    UnmatchedKind,
    /// Kind of cause that a job waits for.
    WaitingCode,
}
