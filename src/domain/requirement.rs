//! Conditions outside of an aggregate that must hold when its commit is written.
//!
//! Aggregates decide independently, each on its own state: one aggregate may delete a file at the same moment as a
//! second one begins to reference it, and each decision is valid by itself. Both therefore state their requirements,
//! and the store checks all of them against the rows as they are after the commit, in the commit's own transaction. If
//! two commits contradict each other, the later one is rejected.

use crate::id::Id;
use crate::refusal::Refusal;

/// Kind of aggregate that other aggregates reference by ID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Referenced {
    /// File; referenced by SKUs, by order lines and jobs, and by custom requests.
    File,
    /// Material; referenced by SKUs, by order lines and jobs, and by printers in which it is loaded.
    Material,
    /// SKU; referenced by order lines and jobs, by kits, and by quotes.
    Sku,
}

/// Condition that a decision relies on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Requirement {
    /// The record has not been deleted; required because the commit references it.
    NotDeleted {
        /// Kind of the referenced record.
        what: Referenced,
        /// Identifier of the referenced record.
        id: Id,
        /// Request field that references the record (`gcodeFileId`), included in the error.
        member: String,
    },
    /// The SKU is not a kit; required because a kit lists it as a component, and kits cannot contain kits.
    NoKit {
        /// Component of the kit.
        sku: Id,
        /// Request field that references the SKU, included in the error.
        member: String,
    },
    /// No active record references the given one; required because the commit deletes it, or turns a SKU into a kit.
    /// The following are ignored: deleted aggregates; orders that are shipped, cancelled or refunded; jobs that are
    /// completed, failed or cancelled; closed custom requests; and quotes that were not sent, or that were accepted or
    /// declined.
    Unused {
        /// Kind of record that is deleted or becomes a kit.
        what: Referenced,
        /// Identifier of the record.
        id: Id,
    },
    /// No document in the series has the given number or a higher one, and no other restore skips such a number;
    /// required because the commit continues the series at the given number. Otherwise, numbers would be missing
    /// without a reason, or the next document would not get the number shown to the operator.
    Unissued {
        /// Name of the series (`INV-2026`).
        series: String,
        /// Number of the next document in the series.
        next: i64,
        /// Restore whose own gap is exempt.
        restore: Id,
        /// Request field that contains the number, included in the error.
        member: String,
    },
}

impl Requirement {
    /// Requires that a record has not been deleted. `member` is the request field that references it.
    pub fn not_deleted(what: Referenced, id: Id, member: impl Into<String>) -> Self {
        Self::NotDeleted { what, id, member: member.into() }
    }

    /// Returns the refusal for an unmet requirement, which is the same as if the requirement had not been met before
    /// the commit.
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
                "must be left unchanged or be higher than every number issued since the restore; otherwise, numbers \
                 would be skipped without a recorded reason",
            ),
        }
    }
}
