//! Slicing: jobs without G-code are sliced from their SKU's model while all their material is reserved.
//!
//! The material needs stated in the G-code correct the reservations. If slicing fails, the reservations are released,
//! and an operator decides whether to slice the model again.

use super::change::OrderChange;
use super::{JobAnswer, JobSlicingOutcome, Order, OrderNewsAnswer, ProductionData};
use crate::aggregate::Decision;
use crate::id::Id;
use crate::job::{Block, Job, JobState};
use crate::launch::MaterialNeed;
use crate::mail::alert::AlertKind;
use crate::refusal::{Refusal, shortened};
use crate::requirement::{Referenced, Requirement};
use crate::slice_source::SliceSource;
use words::staff::alerts as texts;

/// Maximum length of the slicer's message, in characters.
const MAX_WORDS_CHARS: usize = 500;

impl OrderChange<'_> {
    /// Applies the slicing outcome to the jobs that are currently waiting for it. Jobs whose reservation was recalled
    /// in the meantime request slicing again.
    pub(super) fn slicing(
        mut self,
        sku: Id,
        source: &SliceSource,
        news: &JobSlicingOutcome,
    ) -> Decision<Order, OrderNewsAnswer> {
        let waits = self.order.jobs.values().filter(|job| job.sku_id == sku && job.to_slice() == Some(source));
        let waiting: Vec<Id> = waits.map(|job| job.id).collect();
        match news {
            JobSlicingOutcome::Done(make) => return self.sliced(&waiting, make),
            JobSlicingOutcome::Failed(words) => {
                self.tell_failure(&waiting, source, words);
                let words = shortened(format!("slicing failed: {words}"), MAX_WORDS_CHARS);
                for id in waiting {
                    self.edit(id, Job::give_up_all);
                    if let Ok(job) = self.job(id) {
                        self.block(&job, Block::Slicing, Some(&words));
                    }
                }
            }
            JobSlicingOutcome::Waits(words) => {
                let words = shortened(words.clone(), MAX_WORDS_CHARS);
                for id in waiting {
                    self.edit(id, |job| job.block_reason = Some(words.clone()));
                }
            }
        }
        self.acknowledge(true)
    }

    /// Alerts the operators to a model that cannot be sliced, once for all jobs of the order that are waiting for it.
    fn tell_failure(&mut self, waiting: &[Id], source: &SliceSource, words: &str) {
        let Some(job) = waiting.first().and_then(|id| self.job(*id).ok()) else { return };
        let (number, product, others) = (job.number_text(), job.sku_name.clone(), waiting.len() - 1);
        let profile = format!("{:?}", source.profile);
        let error = shortened(words.to_owned(), MAX_WORDS_CHARS);
        self.alert(AlertKind::JobFailed, |language| {
            let subject = match others {
                0 => texts::not_sliced_subject(language, &number),
                more => texts::several_not_sliced_subject(language, &number, more),
            };
            (subject, texts::not_sliced(language, &product, &profile, &error))
        });
    }

    /// Sets the G-code of the jobs. Jobs whose reservations do not change wait for a printer; the rest wait for the
    /// materials to correct the reservations.
    fn sliced(mut self, waiting: &[Id], make: &ProductionData) -> Decision<Order, OrderNewsAnswer> {
        let Some(file) = make.file_id else { return self.acknowledge(true) };
        let first = MaterialNeed { material_id: make.material_id, need: make.need };
        let needs: Vec<MaterialNeed> = std::iter::once(first).chain(make.further.iter().copied()).collect();
        for id in waiting {
            self.edit(*id, |job| {
                job.file_id = Some(file);
                job.file_form = make.file_form;
                job.sliced_for = make.sliced_for.clone();
                job.dimensions = make.dimensions;
                job.file_filament_mm = make.file_filament_mm;
                job.estimated_seconds = make.estimated_seconds;
                job.block_reason = None;
                job.correct_needs(&needs);
                if job.holds_all() {
                    job.state = JobState::Sliced;
                }
            });
            if self.job(*id).is_ok_and(|job| job.state == JobState::Sliced) {
                self.job_event("job.sliced", *id, None);
            }
        }
        self.acknowledge(true).requires([Requirement::not_deleted(Referenced::File, file, "fileId")])
    }

    /// Retries slicing for a job that could not be sliced: its material is claimed again.
    pub(super) fn slice_again(mut self, id: Id) -> Result<Decision<Order, JobAnswer>, Refusal> {
        self.edit(id, |job| {
            job.state = JobState::Validated;
            job.blocked_by = None;
            job.block_reason = None;
            job.ask_next();
        });
        self.job_event("job.released", id, None);
        self.job_event("job.validated", id, None);
        self.job_done(id)
    }
}
