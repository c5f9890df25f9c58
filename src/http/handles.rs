//! Handles that request handlers extract. Every resource declares the ones it uses, so that its code shows its
//! dependencies.
//!
//! A handle outlives the request, is cheap to clone, and is identified by its type. Only the middleware around the
//! handlers uses the whole server state.

use std::sync::Arc;

use axum::extract::FromRef;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::actors::checkouts::Checkouts;
use crate::actors::dispatcher::Dispatcher;
use crate::actors::endpoints::DeliveryMeter;
use crate::actors::forecaster::Forecaster;
use crate::actors::kernel::directory::Directory;
use crate::actors::kernel::environment::Environment;
use crate::actors::kernel::root::Components;
use crate::actors::mails::MailMeter;
use crate::actors::orders::make::MakeSources;
use crate::actors::payment_events::matching::PaymentMatcher;
use crate::actors::quotes::QuoteOrders;
use crate::actors::restores::DispatchHold;
use crate::actors::slicing::Slicing;
use crate::actors::subscribers::Subscribers;
use crate::app::backups::Backups;
use crate::app::customer_space::CustomerSpace;
use crate::app::documents::InvoiceDocuments;
use crate::app::{Directories, KindsOverview};
use crate::config::Config;
use crate::files::blobs::Blobs;
use crate::files::exports::ExportFiles;
use crate::http::AppState;
use crate::http::admission::Admission;
use crate::http::audit_sampling::RefusalSampler;
use crate::http::billing::catalog::CatalogCache;
use crate::http::hashing::Hashing;
use crate::http::idempotency::RunningKeys;
use crate::http::last_used::LastUsed;
use crate::http::limits::Limits;
use crate::http::local_sign_in::LocalSignInDesk;
use crate::http::meter::RouteMeters;
use crate::http::openapi::Descriptions;
use crate::http::pages::Board;
use crate::http::production::health::ReadinessCache;
use crate::http::production::metrics::Tallies;
use crate::http::setup_desk::SetupDesk;
use crate::http::sse::OpenStreams;
use crate::integrations::{AccountingWake, Integrations, StockBoards};
use crate::printers::connections::PrinterConnections;
use crate::secrets::encryption::SecretCipher;
use crate::services::redis::Redis;
use crate::store::outbox::Outbox;
use crate::store::queries::Queries;
use crate::store::writer::WriterCounters;
use crate::store::{Store, StoredAggregate};

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
    Arc<CustomerSpace>: customer_space;
    Arc<SecretCipher>: cipher;
    Arc<Slicing>: slicing;
    Option<Arc<Redis>>: redis;
    Components: components;
    Arc<DeliveryMeter>: deliveries;
    Arc<MailMeter>: mail_meter;
    Arc<InvoiceDocuments>: documents;
    Arc<Integrations>: integrations;
    StockBoards: stock_boards;
    ExportFiles: export_files;
    Arc<Backups>: backups;
    AccountingWake: accounting_wake;
    Arc<Config>: config;
    RunningKeys: running;
    Arc<LastUsed>: last_used;
    Arc<RefusalSampler>: refusals;
    Arc<SetupDesk>: setup;
    Arc<LocalSignInDesk>: local_sign_in;
    Hashing: hashing;
    Arc<RouteMeters>: meters;
    Arc<Tallies>: tallies;
    Arc<Limits>: limits;
    Arc<Admission>: admission;
    CancellationToken: leaving;
    Arc<Descriptions>: descriptions;
    Arc<ReadinessCache>: readiness;
    Arc<CatalogCache>: catalog;
    Arc<Board>: board;
    Arc<OpenStreams>: streams;
}

/// The directory of each kind that is registered.
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

impl FromRef<AppState> for MakeSources {
    fn from_ref(app: &AppState) -> Self {
        app.directories.make_sources()
    }
}

impl FromRef<AppState> for QuoteOrders {
    fn from_ref(app: &AppState) -> Self {
        app.directories.quote_orders()
    }
}

/// Notifier of commits to the access aggregate (users, keys and sessions).
#[derive(Clone)]
pub struct AccessChanges(pub watch::Sender<u64>);

impl FromRef<AppState> for AccessChanges {
    fn from_ref(app: &AppState) -> Self {
        Self(app.access_changes.clone())
    }
}

/// Declares the handles of a resource: a struct that its handlers extract with `State`.
macro_rules! handles {
    ($(#[$doc:meta])* $vis:vis struct $name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone)]
        $vis struct $name {
            $($vis $field: $type,)*
        }

        impl axum::extract::FromRef<$crate::http::AppState> for $name {
            fn from_ref(app: &$crate::http::AppState) -> Self {
                Self { $($field: axum::extract::FromRef::from_ref(app),)* }
            }
        }
    };
}
pub(crate) use handles;
