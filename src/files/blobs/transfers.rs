//! Slots for transfers to and from the bucket. What a print waits for has its own, so that it never waits for pictures,
//! downloads and uploads of people; all of them share the line.

use std::io;

use tokio::sync::{Semaphore, SemaphorePermit};

/// Class of a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum TransferClass {
    /// Contents that a print waits for: G-code for a printer, models to be sliced, and the result of slicing.
    Production,
    /// All other contents: uploads, downloads, pictures, and models that are measured.
    Other,
}

/// Slots for transfers in one direction. Each transfer has one part in memory.
#[derive(Debug)]
pub(super) struct TransferSlots {
    production: Semaphore,
    other: Semaphore,
}

impl TransferSlots {
    /// Creates the given number of slots for each class.
    pub(super) fn new(production: usize, other: usize) -> Self {
        Self { production: Semaphore::new(production), other: Semaphore::new(other) }
    }

    /// Waits for a free slot, in the order of arrival.
    pub(super) async fn acquire(&self, class: TransferClass) -> io::Result<SemaphorePermit<'_>> {
        let slots = match class {
            TransferClass::Production => &self.production,
            TransferClass::Other => &self.other,
        };
        slots.acquire().await.map_err(io::Error::other)
    }
}
