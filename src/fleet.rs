//! Connections to printers: the last look at each, and operations that go straight to the wire.
//!
//! Not durable and not the truth about jobs: that is `domain/printer`. Emergency stop passes through here alone, so it
//! needs neither an actor nor a database.

use crate::domain::id::Id;
use crate::domain::telemetry::Status;
use crate::printers::adapter::Adapter;
use crate::printers::registry::Registry;
use dashmap::DashMap;
use std::sync::Arc;
use tokio::sync::{Notify, watch};

/// One printer's connection.
pub struct Link {
    /// Speaks its protocol.
    pub adapter: Arc<dyn Adapter>,
    /// The last look.
    pub status: watch::Sender<Status>,
    /// Asks the watch to look now.
    pub look: Notify,
}

/// All connections.
pub struct Fleet {
    /// Adapter types.
    pub registry: Registry,
    links: DashMap<Id, Arc<Link>>,
}

impl Fleet {
    /// Without connections.
    pub fn new(registry: Registry) -> Self {
        Self { registry, links: DashMap::new() }
    }

    /// The connection of a printer that is being watched.
    pub fn link(&self, printer: Id) -> Option<Arc<Link>> {
        self.links.get(&printer).map(|link| link.clone())
    }

    /// The last look at a printer.
    pub fn status(&self, printer: Id) -> Option<Status> {
        self.links.get(&printer).map(|link| link.status.borrow().clone())
    }

    /// A printer is being watched through this adapter.
    pub fn put(&self, printer: Id, adapter: Arc<dyn Adapter>) -> Arc<Link> {
        let link = Arc::new(Link { adapter, status: watch::Sender::new(Status::default()), look: Notify::new() });
        self.links.insert(printer, link.clone());
        link
    }

    /// No longer watched through this adapter; another one that took its place stays.
    pub fn remove(&self, printer: Id, link: &Arc<Link>) {
        self.links.remove_if(&printer, |_, known| Arc::ptr_eq(known, link));
    }
}
