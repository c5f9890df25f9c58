//! Places of the handles in the server state, from which the macro `handles!` extracts them. Everything that a handler
//! may use is listed here, so this module depends on all others of the crate, and none depends on it.

use std::sync::Arc;

use axum::extract::FromRef;
use tokio_util::sync::CancellationToken;

use crate::AppState;
use crate::access::CheckedKeys;
use crate::admission::Admission;
use crate::audit_sampling::RefusalSampler;
use crate::hashing::Hashing;
use crate::idempotency::RunningKeys;
use crate::last_used::LastUsed;
use crate::limits::RateLimiter;
use crate::local_sign_in::LocalSignInHolder;
use crate::meter::RouteMeters;
use crate::openapi::Descriptions;
use crate::setup_desk::SetupService;
use crate::sse::OpenStreams;
use actors::app::backups::Backups;
use actors::app::backups::schedule::BackupSchedule;
use actors::app::customer_space::CustomerSpace;
use actors::app::documents::InvoiceDocuments;
use actors::app::{ContentSweep, Directories, KindsOverview};
use actors::checkouts::Checkouts;
use actors::dispatcher::Dispatcher;
use actors::endpoints::DeliveryMeter;
use actors::forecaster::Forecaster;
use actors::integrations::{AccountingWake, Integrations, StockSystemStatuses};
use actors::mails::MailMeter;
use actors::orders::make::ProductionSources;
use actors::payment_events::matching::PaymentMatcher;
use actors::quotes::QuoteOrders;
use actors::restores::DispatchHold;
use actors::slicing::SlicingService;
use actors::subscribers::Subscribers;
use config::Config;
use files::blobs::Blobs;
use files::exports::ExportFiles;
use kernel::directory::Directory;
use kernel::environment::Environment;
use kernel::root::HealthRegistry;
use platform::secrets::encryption::SecretCipher;
use printers::connections::PrinterConnections;
use services::redis::Redis;
use store::outbox::Outbox;
use store::queries::Queries;
use store::writer::WriterCounters;
use store::{Store, StoredAggregate};

/// Maps each handle to its place in the server state.
macro_rules! held {
    ($($type:ty: $($field:ident).+;)*) => {$(
        impl FromRef<AppState> for $type {
            fn from_ref(app: &AppState) -> Self {
                app.$($field).+.clone()
            }
        }
    )*};
}
held! {
    Arc<Environment>: environment;
    Queries: queries;
    Store: store;
    Arc<Outbox>: outbox;
    Arc<WriterCounters>: writer;
    Arc<PrinterConnections>: printer_connections;
    Dispatcher: dispatcher;
    DispatchHold: hold;
    Forecaster: forecaster;
    PaymentMatcher: payments;
    Checkouts: checkouts;
    Subscribers: subscribers;
    Arc<Blobs>: blobs;
    Arc<ContentSweep>: content_sweep;
    Arc<CustomerSpace>: customer_space;
    Arc<SecretCipher>: cipher;
    Arc<SlicingService>: slicing;
    Option<Arc<Redis>>: redis;
    HealthRegistry: components;
    Arc<DeliveryMeter>: deliveries;
    Arc<MailMeter>: mail_meter;
    Arc<InvoiceDocuments>: documents;
    Arc<Integrations>: integrations;
    StockSystemStatuses: stock_boards;
    ExportFiles: export_files;
    Arc<Backups>: backups;
    Arc<BackupSchedule>: backup_schedule;
    AccountingWake: accounting_wake;
    Arc<Config>: config;
    RunningKeys: running;
    Arc<CheckedKeys>: checked_keys;
    Arc<LastUsed>: last_used;
    Arc<RefusalSampler>: refusals;
    Arc<SetupService>: setup;
    Arc<LocalSignInHolder>: local_sign_in;
    Hashing: hashing;
    Arc<RouteMeters>: meters;
    Arc<RateLimiter>: limits;
    Arc<Admission>: admission;
    CancellationToken: leaving;
    Arc<Descriptions>: descriptions;
    Arc<OpenStreams>: streams;
}

/// Makes the directory of each registered kind available to handlers.
impl<A: StoredAggregate> FromRef<AppState> for Directory<A>
where
    Directories: AsRef<Self>,
{
    fn from_ref(app: &AppState) -> Self {
        app.directories.as_ref().clone()
    }
}

impl FromRef<AppState> for KindsOverview {
    fn from_ref(app: &AppState) -> Self {
        app.directories.overview()
    }
}

impl FromRef<AppState> for ProductionSources {
    fn from_ref(app: &AppState) -> Self {
        app.directories.make_sources()
    }
}

impl FromRef<AppState> for QuoteOrders {
    fn from_ref(app: &AppState) -> Self {
        app.directories.quote_orders()
    }
}
