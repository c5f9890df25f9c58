//! Conditions outside an aggregate that must hold when its commit is written.
//!
//! Aggregates decide alone, each on its own state: one may delete a file at the same moment in which another begins to
//! reference it, and each decision is valid by itself. So both state their requirements, and the store checks all of
//! them against the rows as they are after the commit, in the commit's own transaction. Of two that contradict each
//! other the later is refused.

use crate::id::Id;
use crate::refusal::Refusal;

/// Kind of aggregate that others reference by id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Referenced {
    /// File; referenced by SKUs, by the lines and jobs of orders, and by custom requests.
    File,
    /// Material; referenced by SKUs, by the lines and jobs of orders, and as loaded in a printer.
    Material,
    /// SKU; referenced by the lines and jobs of orders, by kits, and by quotes.
    Sku,
}

/// Condition that a decision relies on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Requirement {
    /// The record is not deleted: the commit references it.
    NotDeleted {
        /// Kind of the referenced record.
        what: Referenced,
        /// Identifier of the referenced record.
        id: Id,
        /// Member of the request that references it (`gcodeFileId`), for the refusal.
        member: String,
    },
    /// This SKU is made itself: a kit lists it as a component, and kits contain no kits.
    NoKit {
        /// Component of the kit.
        sku: Id,
        /// Member of the request that references it, for the refusal.
        member: String,
    },
    /// No active record references this one: the commit deletes it, or turns a SKU into a kit. Deleted aggregates and
    /// orders that are shipped, cancelled or refunded do not count, nor do jobs that are completed, failed or
    /// cancelled, custom requests that are closed, and quotes that are not sent or were answered.
    Unused {
        /// Kind of the record that is deleted or becomes a kit.
        what: Referenced,
        /// Identifier of that record.
        id: Id,
    },
    /// No document of this series has this number or a higher one, and no other restore skips such a number: the commit
    /// continues the series at it. Otherwise numbers would be missing without a reason, or the next document would get
    /// a number other than the one shown to the operator.
    Unissued {
        /// Name of the series (`INV-2026`).
        series: String,
        /// Number of the next document in it.
        next: i64,
        /// Restore whose own gap is exempt.
        restore: Id,
        /// Member of the request that contains the number, for the refusal.
        member: String,
    },
}

impl Requirement {
    /// Requires that a record is not deleted; `member` of the request references it.
    pub fn not_deleted(what: Referenced, id: Id, member: impl Into<String>) -> Self {
        Self::NotDeleted { what, id, member: member.into() }
    }

    /// Returns the refusal for an unmet requirement, the same as if it had been unmet before the commit.
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
            Self::NoKit { member, .. } => Refusal::field(member, "must not be a kit"),
            Self::Unused { what: Referenced::File, .. } => Refusal::conflict(
                "file_in_use",
                "this file is used by a SKU, an unfinished order or job, or an open custom request",
            ),
            Self::Unused { what: Referenced::Material, .. } => Refusal::conflict(
                "material_in_use",
                "this material is used by a SKU or an unfinished order or job, or is loaded in a printer",
            ),
            Self::Unused { what: Referenced::Sku, .. } => Refusal::conflict(
                "sku_in_use",
                "this SKU is used by an unfinished order or job, a kit, or a sent quote",
            ),
            Self::Unissued { member, .. } => Refusal::field(
                member,
                "must stay unchanged or be higher than every number issued since the restore; otherwise, numbers \
                 would be skipped without a recorded reason",
            ),
        }
    }
}
