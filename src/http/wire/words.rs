//! Parses service names and the domain's enumerations, whose schemas are in the crate `domain`.

use super::values::readable;
use actors::app::service_tests::Service;
use domain::agent::Skill;
use domain::channel_order::{ChannelOrderStatus, TrackingState};
use domain::custom_request::CustomRequestStatus;
use domain::customer::AddressKind;
use domain::endpoint::{DeliveryState, EndpointState};
use domain::event::OutboundEvent;
use domain::export::{ExportState, ExportType};
use domain::file::{FileKind, GcodeForm};
use domain::invoice::{DocumentKind, InvoiceStatus};
use domain::job::{AttemptState, Block, JobState};
use domain::kept_payment_event::UnmatchedKind;
use domain::mail::MailState;
use domain::material::{MaterialType, MovementKind};
use domain::order::{OrderKind, OrderStatus, Resolution};
use domain::parts_sync::{ConflictKind, RightSide, StockSystem};
use domain::picture_format::PictureFormat;
use domain::posting::PostingState;
use domain::principal::Role;
use domain::printer::{Attention, SlotSource};
use domain::printer_status::{Activity, Connection, PrintEnd};
use domain::quote::QuoteStatus;
use domain::sku::MachineType;
use domain::timing::Timing;

readable!(
    Activity,
    AddressKind,
    AttemptState,
    Attention,
    Block,
    ChannelOrderStatus,
    ConflictKind,
    Connection,
    CustomRequestStatus,
    DeliveryState,
    DocumentKind,
    EndpointState,
    ExportState,
    ExportType,
    FileKind,
    GcodeForm,
    InvoiceStatus,
    JobState,
    MachineType,
    MailState,
    MaterialType,
    MovementKind,
    OrderKind,
    OrderStatus,
    OutboundEvent,
    PictureFormat,
    PostingState,
    PrintEnd,
    QuoteStatus,
    Resolution,
    RightSide,
    Role,
    Service,
    Skill,
    SlotSource,
    StockSystem,
    Timing,
    TrackingState,
    UnmatchedKind
);
