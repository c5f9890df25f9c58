//! Schemas of enumerations without data: the words that `serde` reads and writes.

use api_schema::ToSchema;
use api_schema::shape::Shape;
use api_schema::words::word_of;

use crate::domain::agent::Skill;
use crate::domain::channel_order::{ChannelOrderStatus, TrackingState};
use crate::domain::customer::AddressKind;
use crate::domain::endpoint::{DeliveryState, EndpointState};
use crate::domain::event::OutboundEvent;
use crate::domain::export::{ExportState, ExportType};
use crate::domain::file::{FileKind, GcodeForm};
use crate::domain::invoice::DocumentKind;
use crate::domain::job::{AttemptState, Block, JobState};
use crate::domain::kept_payment_event::UnmatchedKind;
use crate::domain::material::{MaterialType, MovementKind};
use crate::domain::order::{OrderKind, Resolution};
use crate::domain::parts_sync::{ConflictKind, RightSide, StockSystem};
use crate::domain::picture_format::PictureFormat;
use crate::domain::posting::PostingState;
use crate::domain::principal::Role;
use crate::domain::printer::{Attention, SlotSource};
use crate::domain::printer_status::{Activity, Connection, PrintEnd};
use crate::domain::sku::MachineType;

/// Declares the named schema of each type, by its own name or the one that follows it: `Activity = "PrinterState"`. The
/// doc comment before a type is the description of its schema.
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
    /// What a printer does; `offline` while it does not answer.
    Activity = "PrinterState",
    /// What an address is for.
    AddressKind,
    /// How far an attempt to print is, or how it ended.
    AttemptState,
    /// What keeps a printer from the next job until it is over or a person acts.
    Attention,
    /// Why a job awaits review: too little material, stock below its reorder point, or slicing that failed.
    Block,
    /// Where an order of another shop stands.
    ChannelOrderStatus,
    /// Why a link needs a person.
    ConflictKind,
    /// How the server is connected with a printer.
    Connection = "ConnectionState",
    /// How a delivery stands, as lists are filtered by it.
    DeliveryState,
    /// What was issued: an invoice, or a credit note that takes it back or a part of it.
    DocumentKind,
    /// Whether an endpoint is sent events; `disabled` by a person or after a delivery was given up.
    EndpointState,
    /// How far an export is.
    ExportState,
    /// A type of records that can be exported.
    ExportType,
    /// What a file is for, found from its content.
    FileKind,
    /// The format of G-code: text, the binary format, or a sliced 3MF package.
    GcodeForm,
    /// How far a job is, from `CREATED` to `COMPLETED`, `FAILED` or `CANCELLED`.
    JobState,
    /// A type of machine; a job is printed on the type that its SKU names.
    MachineType,
    /// A type of material, which decides the unit of its amounts.
    MaterialType,
    /// What changed the stock of a material.
    MovementKind,
    /// How an order came about; fixed when it is made.
    OrderKind,
    /// An event that endpoints can be sent; `/docs/events` says when each happens.
    OutboundEvent,
    /// The format of a picture, found from its content.
    PictureFormat,
    /// How far a document is on its way into the books.
    PostingState,
    /// How a print ended, as the printer remembers it.
    PrintEnd,
    /// What became of a print, as a person has seen it.
    Resolution,
    /// Which side is right: `theirs` makes our stock what is counted there, `ours` books the difference there.
    RightSide,
    /// What a caller may do; `admin` includes `operator`, which includes `customer`.
    Role,
    /// What the agent gateway can have done, or can ask for.
    Skill,
    SlotSource,
    /// Another system that counts stock: a parts management system, or one that knows spools.
    StockSystem,
    /// How far the other shop knows of a shipment.
    TrackingState,
    /// What happened to the money, by an event that belongs to no order.
    UnmatchedKind,
}
