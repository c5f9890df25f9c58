//! Checks the requirements of commits against the in-memory tables. Whole tables are scanned, because simulations are
//! small.

use super::Tables;
use crate::rows::{Snapshot, read_doc};
use domain::file::File;
use domain::id::Id;
use domain::invoice::IssuedDocument;
use domain::job::Job;
use domain::material::Material;
use domain::order::{Order, OrderStatus};
use domain::printer::Printer;
use domain::requirement::{Referenced, Requirement};
use domain::restore::numbers::NumberGap;
use domain::sku::Sku;

impl Tables {
    /// Returns whether the rows meet a requirement.
    pub(crate) fn meet(&self, requirement: &Requirement) -> bool {
        match requirement {
            Requirement::NotDeleted { what: Referenced::File, id, .. } => !self.is(*id, |file: &File| file.archived),
            Requirement::NotDeleted { what: Referenced::Material, id, .. } => {
                !self.is(*id, |material: &Material| material.archived)
            }
            Requirement::NotDeleted { what: Referenced::Sku, id, .. } => !self.is(*id, |sku: &Sku| sku.archived),
            Requirement::NoKit { sku, .. } => !self.is(*sku, |sku: &Sku| sku.fields.is_kit()),
            Requirement::Unused { what, id } => !self.in_use(*what, *id),
            Requirement::Unissued { series, next, restore, .. } => {
                let issued = self.parts::<IssuedDocument>().filter(|one| one.series() == *series).map(|one| one.number);
                let others =
                    self.parts::<NumberGap>().filter(|gap| gap.series == *series && gap.restore_id != *restore);
                issued.chain(others.map(|gap| gap.last)).all(|number| number < *next)
            }
        }
    }

    fn is<T: Snapshot>(&self, id: Id, so: impl Fn(&T) -> bool) -> bool {
        self.snapshot_of::<T>(id).is_some_and(|row| {
            let facts = row.facts();
            read_doc(facts.schema, facts.doc).is_ok_and(|state| so(&state))
        })
    }

    fn any<T: Snapshot>(&self, so: impl Fn(&T, &str) -> bool) -> bool {
        self.snapshots_of::<T>().any(|row| {
            let facts = row.facts();
            read_doc(facts.schema, facts.doc).is_ok_and(|state| so(&state, facts.doc))
        })
    }

    fn in_use(&self, what: Referenced, id: Id) -> bool {
        let (member, text) = (|name: &str| format!("\"{name}\":\"{id}\""), format!("\"{id}\""));
        let over = |order: &Order| {
            matches!(order.status, OrderStatus::Shipped | OrderStatus::Cancelled | OrderStatus::Refunded)
        };
        let in_orders = |name: &str| self.any(|order: &Order, doc| !over(order) && doc.contains(&member(name)));
        let in_jobs = |named: &dyn Fn(&Job) -> bool| self.parts::<Job>().any(|job| !job.over() && named(job));
        match what {
            Referenced::Sku => {
                let named = member("skuId");
                self.any(|kit: &Sku, doc| !kit.archived && doc.contains(&named))
                    || in_orders("skuId")
                    || in_jobs(&|job| job.sku_id == id)
            }
            Referenced::File => {
                self.any(|sku: &Sku, doc| !sku.archived && doc.contains(&text))
                    || in_orders("fileId")
                    || in_orders("modelFileId")
                    || in_jobs(&|job| {
                        let model = job.source.as_ref().map(|source| source.model_file_id);
                        job.file_id == Some(id) || model == Some(id)
                    })
            }
            Referenced::Material => {
                let named = member("materialId");
                self.any(|sku: &Sku, doc| !sku.archived && doc.contains(&named))
                    || self.any(|printer: &Printer, doc| {
                        let loaded = printer.fields.loaded_material_id == Some(id);
                        !printer.archived && (loaded || doc.contains(&named))
                    })
                    || in_orders("materialId")
                    || in_jobs(&|job| job.claims().iter().any(|claim| claim.material_id == id))
            }
        }
    }
}
