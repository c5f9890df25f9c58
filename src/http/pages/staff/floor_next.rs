//! Jobs that wait for a printer, in the head of the floor: the first few, as they are expected to start, each with the
//! reason for which it waits. Rendered once for all viewers, after each forecast.

use maud::{Markup, html};

use super::board::BoardHandles;
use super::card_print::{job_path_of, plate};
use super::job::JOBS_PATH;
use crate::times::translated_message;
use domain::dispatch::Waiting;
use domain::forecast::{Forecast, WaitingJob};
use domain::id::Id;
use domain::job::JobState;
use words::Language;
use words::staff::floor as texts;

/// ID of the HTML element that contains the jobs that wait.
pub(super) const UP_NEXT_ID: &str = "up-next";

/// Job that waits, as it is shown.
struct WaitingEntry {
    order: Id,
    job: Id,
    /// Number of the job and product on its plate.
    name: String,
    /// Reason for which the job waits.
    sentence: String,
}

impl WaitingEntry {
    /// Looks a job up; `None` if its order is not in memory, or if it is no longer waiting.
    fn find(language: Language, app: &BoardHandles, forecast: &Forecast, waiting: &WaitingJob) -> Option<Self> {
        let versioned = app.orders.resident(waiting.order)?.read();
        let job = versioned.state.as_ref()?.jobs.get(&waiting.job)?;
        let reason = app.dispatcher.waiting(language, job, &forecast.jobs);
        Some(Self {
            order: waiting.order,
            job: waiting.job,
            name: format!("{} {}", job.number_text(), plate(&job.sku_name, job.plate_parts)),
            sentence: reason.as_ref().map(Waiting::sentence)?,
        })
    }
}

/// Renders the first few jobs that wait, and the number of all.
pub(super) fn up_next(language: Language, app: &BoardHandles, forecast: &Forecast) -> Markup {
    let find = |waiting: &WaitingJob| WaitingEntry::find(language, app, forecast, waiting);
    let entries: Vec<WaitingEntry> = forecast.first_waiting.iter().filter_map(find).collect();
    part(language, &entries, forecast.waiting)
}

fn part(language: Language, entries: &[WaitingEntry], total: usize) -> Markup {
    let waiting_path = format!("{JOBS_PATH}?state={}", JobState::Sliced);
    html! {
        section id=(UP_NEXT_ID) class="up-next" aria-labelledby="up-next-title" {
            div {
                h2 id="up-next-title" { (texts::up_next(language)) }
                @if !entries.is_empty() { a class="small muted" href=(waiting_path) { (texts::waiting(language, total)) } }
            }
            @if entries.is_empty() {
                p class="small muted" { (texts::nothing_waiting(language)) }
            } @else {
                ul {
                    @for WaitingEntry { order, job, name, sentence } in entries {
                        li {
                            a href=(job_path_of(*order, *job)) title=(name) { (name) }
                            p class="small muted" { (translated_message(language, sentence)) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::testing::id;

    #[test]
    fn jobs_that_wait_are_named_with_their_reasons() {
        let entry = WaitingEntry {
            order: id(10),
            job: id(11),
            name: "JOB-000011 <b> ×2".to_owned(),
            sentence: "waiting for a printer; Ada is printing until 2026-11-28T16:40:05.000Z".to_owned(),
        };
        let english = part(Language::English, std::slice::from_ref(&entry), 7).0;
        let link = format!("<a href=\"/shop/orders/{}#job-{}\" title=\"JOB-000011 &lt;b&gt; ×2\">", id(10), id(11));
        for text in
            [">Next</h2>", "?state=SLICED\">7 waiting</a>", link.as_str(), "is printing until <shop-time moment "]
        {
            assert!(english.contains(text), "{text} in {english}");
        }
        let german = part(Language::German, &[entry], 1).0;
        assert!(german.contains(">Als Nächstes</h2>") && german.contains(">1 wartet</a>"), "{german}");
        let none = part(Language::English, &[], 0).0;
        assert!(none.contains(">No jobs are waiting for a printer.</p>") && !none.contains("<a "), "{none}");
    }
}
