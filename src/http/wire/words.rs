//! Parsing of the enumerations of the rules, whose schemas stand beside them in the crate `domain`, and of a service's
//! name.

use super::values::readable;
use crate::app::service_tests::Service;
use crate::domain::agent::Skill;
use crate::domain::channel_order::{ChannelOrderStatus, TrackingState};
use crate::domain::custom_request::CustomRequestStatus;
use crate::domain::customer::AddressKind;
use crate::domain::endpoint::{DeliveryState, EndpointState};
use crate::domain::event::OutboundEvent;
use crate::domain::export::{ExportState, ExportType};
use crate::domain::file::{FileKind, GcodeForm};
use crate::domain::invoice::{DocumentKind, InvoiceStatus};
use crate::domain::job::{AttemptState, Block, JobState};
use crate::domain::kept_payment_event::UnmatchedKind;
use crate::domain::material::{MaterialType, MovementKind};
use crate::domain::order::{OrderKind, OrderStatus, Resolution};
use crate::domain::parts_sync::{ConflictKind, RightSide, StockSystem};
use crate::domain::picture_format::PictureFormat;
use crate::domain::posting::PostingState;
use crate::domain::principal::Role;
use crate::domain::printer::{Attention, SlotSource};
use crate::domain::printer_status::{Activity, Connection, PrintEnd};
use crate::domain::quote::QuoteStatus;
use crate::domain::sku::MachineType;

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
    TrackingState,
    UnmatchedKind
);
