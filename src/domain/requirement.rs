//! What must hold outside an aggregate when its commit is written.
//!
//! Aggregates decide alone, each on its own state: one may delete a file in the same moment in which another begins to
//! name it, and both decisions are right by themselves. So both say what they rely on, and the store holds all of it
//! against the rows as they are after the commit, in the commit's own transaction. Of two that contradict each other
//! the later is refused.

use crate::domain::id::Id;
use crate::domain::refusal::Refusal;

/// Kinds of aggregates that others name by their id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Referenced {
    /// Named by SKUs, by the lines and jobs of orders, and by custom requests.
    File,
    /// Named by SKUs, by the lines and jobs of orders, and as what is loaded in a printer.
    Material,
    /// Named by the lines and jobs of orders, by kits, and by quotes.
    Sku,
}

/// What a decision relies on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Requirement {
    /// This has not been deleted: the commit names it.
    NotDeleted {
        /// The kind of what is named.
        what: Referenced,
        /// Which one of its kind.
        id: Id,
        /// The member of the request that names it (`gcodeFileId`), for the refusal.
        member: String,
    },
    /// This SKU is made itself: a kit names it as a component, and kits contain no kits.
    NoKit {
        /// The component.
        sku: Id,
        /// The member of the request that names it, for the refusal.
        member: String,
    },
    /// Nothing that counts as a use names this: the commit deletes it, or makes a kit of a SKU. Deleted aggregates and
    /// orders that are shipped, cancelled or refunded do not count, nor do jobs that are completed, failed or
    /// cancelled, custom requests that are closed, and quotes that are not sent or were answered.
    Unused {
        /// The kind of what is deleted or becomes a kit.
        what: Referenced,
        /// Which one of its kind.
        id: Id,
    },
    /// No document of this series has this number or a higher one, and no other restore leaves such a number out: the
    /// commit has the series go on at it. Else numbers would be missing without a reason, or the next document would
    /// get another number than a person was told.
    Unissued {
        /// Name of the series (`INV-2026`).
        series: String,
        /// Number that its next document is to get.
        next: i64,
        /// Restore whose own gap does not count.
        restore: Id,
        /// The member of the request that names the number, for the refusal.
        member: String,
    },
}

impl Requirement {
    /// This has not been deleted; `member` of the request names it.
    pub fn not_deleted(what: Referenced, id: Id, member: impl Into<String>) -> Self {
        Self::NotDeleted { what, id, member: member.into() }
    }

    /// What the caller hears when it does not hold: the same as when it had not held before.
    pub fn refusal(&self) -> Refusal {
        match self {
            Self::NotDeleted { what, member, .. } => Refusal::field(
                member,
                match what {
                    Referenced::File => "no such file",
                    Referenced::Material => "no such material",
                    Referenced::Sku => "no such SKU",
                },
            ),
            Self::NoKit { member, .. } => Refusal::field(member, "is a kit itself"),
            Self::Unused { what: Referenced::File, .. } => Refusal::conflict(
                "file_in_use",
                "a SKU, an unfinished order or job, or an open custom request names this file",
            ),
            Self::Unused { what: Referenced::Material, .. } => Refusal::conflict(
                "material_in_use",
                "a SKU or an unfinished order or job names this material, or a printer has it loaded",
            ),
            Self::Unused { what: Referenced::Sku, .. } => Refusal::conflict(
                "sku_in_use",
                "an unfinished order or job, a kit, or a quote that was sent names this SKU",
            ),
            Self::Unissued { member, .. } => Refusal::field(
                member,
                "must be higher than every number issued since the restore, or stay as it is: a lower one would leave \
                 numbers out without a reason",
            ),
        }
    }
}
