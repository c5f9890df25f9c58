//! Choices for a print whose start or end is not confirmed, or whose printer does not respond: a person states how it
//! ended.

use maud::{Markup, html};

use super::{JobCard, job_path};
use crate::staff::ORDERS_PATH;
use crate::staff::outage::is_out_of_reach;
use crate::staff::shell::hidden;
use crate::staff::subject::print_field;
use domain::id::Id;
use domain::job::{Attempt, AttemptState};
use words::Language;
use words::staff::jobs;

/// Renders the buttons for resolving an attempt of a job whose outcome is unknown. `last_progress` is the last observed
/// progress, from 0 to 1; if present, the print did start, and every choice records the material that it used.
pub(in crate::staff) fn resolutions(
    language: Language,
    job: Id,
    attempt: Id,
    last_progress: Option<f64>,
    back: &str,
) -> Markup {
    let answers = [
        ("not_started", jobs::mark_not_started(language)),
        ("finished", jobs::mark_finished(language)),
        ("failed", jobs::mark_failed(language)),
    ];
    html! {
        @if let Some(progress) = last_progress {
            p class="full" { (jobs::did_it_succeed(language, &format!("{:.0}", progress * 100.0))) }
        }
        form class="acts" method="post" action=(job_path(job, "resolve")) data-quiet="" {
            (hidden())
            (print_field(Some(&attempt.to_string())))
            input type="hidden" name="back" value=(back);
            @for (word, words) in answers.into_iter().skip(usize::from(last_progress.is_some())) {
                button class="second" type="submit" name="outcome" value=(word) id={ (word) "-" (job) } { (words) }
            }
        }
    }
}

impl JobCard<'_> {
    /// Returns the observed progress of an ongoing attempt's print, from 0 to 1; `None` if the print was never
    /// observed.
    fn last_progress(&self, attempt: &Attempt) -> Option<f64> {
        let printer = self.app.printers.resident(attempt.printer_id)?.read();
        let print = printer.state.as_ref()?.seen_print(attempt.id);
        (print.began || attempt.state == AttemptState::Confirmed).then_some(print.progress)
    }

    /// Returns the print in progress if only a person can say how it ends: its start or end is not confirmed, or its
    /// printer does not respond.
    fn print_in_doubt(&self) -> Option<&Attempt> {
        self.job.live().filter(|attempt| attempt.unverified || is_out_of_reach(self.shop, self.job))
    }

    /// Renders the choices for a print that only a person can end.
    pub(super) fn trouble(&self) -> Markup {
        html! {
            @if let Some(attempt) = self.print_in_doubt() {
                @if !attempt.unverified { p { (jobs::not_responding_text(self.language)) } }
                (self.choices(attempt))
            }
        }
    }

    /// Renders the collapsed choices for a print that is not in doubt yet.
    pub(super) fn later_trouble(&self) -> Markup {
        html! {
            @if let Some(attempt) = self.job.live().filter(|_| self.print_in_doubt().is_none()) {
                details {
                    summary { (jobs::not_responding(self.language)) }
                    p { (jobs::not_responding_text(self.language)) }
                    (self.choices(attempt))
                }
            }
        }
    }

    fn choices(&self, attempt: &Attempt) -> Markup {
        let order = format!("{ORDERS_PATH}/{}", self.job.order_id);
        resolutions(self.language, self.job.id, attempt.id, self.last_progress(attempt), &order)
    }
}
