//! Filters of the list of jobs: by state, text, printer and day. All of them are in the address of the page.

use api_derive::Request;
use maud::{Markup, html};

use super::{JOBS_PATH, state_label};
use crate::staff::filled_form::{address, field, options};
use crate::staff::orders::StaffOrderHandles;
use crate::staff::sheet::{ListFilter, list_filters, non_empty};
use domain::id::Id;
use domain::job::JobState;
use domain::shop_clock::ShopClock;
use domain::time::Timestamp;
use store::queries::JobFilter;
use words::Language;
use words::staff::jobs as texts;

/// Text in the language of the page.
type JobListText = fn(Language) -> String;

/// States by which the list can be filtered, in the order in which they occur.
const JOB_STATES: [JobState; 10] = [
    JobState::Created,
    JobState::Validated,
    JobState::AwaitingManualReview,
    JobState::Sliced,
    JobState::Dispatching,
    JobState::Printing,
    JobState::Paused,
    JobState::Completed,
    JobState::Failed,
    JobState::Cancelled,
];

/// Periods in which jobs were created: their word in the address, their days up to today, and their label.
const PERIODS: [(&str, i64, JobListText); 3] =
    [("1", 1, texts::today), ("7", 7, texts::last_week), ("30", 30, texts::last_month)];

/// Maximum number of printers that are offered.
const MAX_PRINTERS: usize = 1_000;

/// Query parameters of the job list. Unknown values are ignored.
#[derive(Request, Debug)]
pub(super) struct JobListQuery {
    /// Only jobs in the given state, as spelled in the API.
    state: Option<String>,
    /// Number of the job or its order, or part of the name of the product or file.
    q: Option<String>,
    /// Only jobs on the given printer.
    printer: Option<String>,
    /// Only jobs created on so many days up to today: `1`, `7` or `30`.
    days: Option<String>,
    /// Only jobs that make the given SKU.
    sku: Option<String>,
    /// Only jobs that use the given material.
    material: Option<String>,
    /// Only jobs for the given order.
    order: Option<String>,
    /// Number of entries to skip.
    #[api(default = 0)]
    pub(super) from: u32,
}

fn parse_id(text: Option<&String>) -> Option<Id> {
    text?.parse().ok()
}

impl JobListQuery {
    fn state(&self) -> Option<JobState> {
        let state_word = self.state.as_deref()?;
        JOB_STATES.into_iter().find(|state| state.to_string() == state_word)
    }

    /// Returns the text to search for.
    pub(super) fn search_text(&self) -> Option<&str> {
        non_empty(self.q.as_ref())
    }

    /// Returns the number of days up to today.
    fn days(&self) -> Option<i64> {
        let days_word = self.days.as_deref()?;
        PERIODS.into_iter().find(|(word, ..)| *word == days_word).map(|(_, days, _)| days)
    }

    /// Returns the filters that the form has no field for. Other pages set them in their links.
    fn linked(&self) -> [(&'static str, Option<&str>); 3] {
        let filters = [("sku", &self.sku), ("material", &self.material), ("order", &self.order)];
        filters.map(|(name, value)| (name, non_empty(value.as_ref())))
    }

    /// Returns all filters except the state, which the state tabs keep.
    fn others(&self) -> impl Iterator<Item = (&'static str, Option<&str>)> {
        let fields = [("q", &self.q), ("printer", &self.printer), ("days", &self.days)];
        fields.into_iter().map(|(name, value)| (name, non_empty(value.as_ref()))).chain(self.linked())
    }

    /// Returns all filters, as names and values of query parameters.
    pub(super) fn narrowed(&self) -> Vec<(&'static str, Option<&str>)> {
        [("state", non_empty(self.state.as_ref()))].into_iter().chain(self.others()).collect()
    }

    /// Returns the filter for jobs, without the search.
    pub(super) fn filter(&self, clock: &ShopClock, now: Timestamp) -> JobFilter {
        JobFilter {
            state: self.state(),
            sku_id: parse_id(self.sku.as_ref()),
            printer_id: parse_id(self.printer.as_ref()),
            material_id: parse_id(self.material.as_ref()),
            order_id: parse_id(self.order.as_ref()),
            since: self.days().map(|days| clock.day_start_before(now, days - 1)),
            ..JobFilter::default()
        }
    }
}

/// Renders the links that filter the list by state. The states of open jobs are shown with the number of jobs that
/// match the other filters; states without any are omitted, except that of waiting jobs in the list of all jobs. What
/// is listed is shown with `total`, its number of jobs; the others are not worth a search.
pub(super) fn states(
    language: Language,
    app: &StaffOrderHandles,
    query: &JobListQuery,
    (filter, total): (&JobFilter, u64),
) -> Markup {
    let counts = state_counts(app, filter);
    let is_narrowed = JobFilter { state: None, ..filter.clone() } != JobFilter::default();
    let listed = |is_current: bool| usize::try_from(total).ok().filter(|_| is_current);
    let path = |state: &str| {
        let others = query.others().map(|(name, value)| (name, value.unwrap_or_default()));
        let filters: Vec<(&str, &str)> = [("state", state)].into_iter().chain(others).collect();
        address(JOBS_PATH, &filters)
    };
    let all = texts::filter_all(language);
    let is_all = filter.state.is_none();
    let every = ListFilter { label: &all, path: path(""), count: listed(is_all), is_current: is_all };
    let labels = JOB_STATES.map(|state| (state, state_label(language, state).1));
    let filters = labels.iter().enumerate().filter_map(|(place, (state, label))| {
        // Jobs that ended rest in the database.
        let has_ended = matches!(state, JobState::Completed | JobState::Failed | JobState::Cancelled);
        let count = counts.filter(|_| !has_ended).and_then(|counts| counts.get(place).copied());
        let is_current = filter.state == Some(*state);
        let count = count.or_else(|| listed(is_current));
        let path = path(&state.to_string());
        let is_shown = count != Some(0) || is_current || (*state == JobState::Sliced && !is_narrowed);
        is_shown.then_some(ListFilter { label, path, count, is_current })
    });
    list_filters(&texts::status(language), &[every].into_iter().chain(filters).collect::<Vec<_>>())
}

/// Counts the jobs in memory that match all filters but the state, by state, in the order of [`JOB_STATES`]; `None` if
/// only the database can determine which ones match.
fn state_counts(app: &StaffOrderHandles, filter: &JobFilter) -> Option<[usize; JOB_STATES.len()]> {
    let filter = JobFilter { state: None, ..filter.clone() };
    let mut counts = [0; JOB_STATES.len()];
    for (_, versioned) in app.board.orders.all_resident() {
        for job in versioned.state.iter().flat_map(|order| order.jobs.values()) {
            let is_match = filter.matches(job)?;
            let place = JOB_STATES.iter().position(|state| *state == job.state).filter(|_| is_match);
            if let Some(count) = place.and_then(|place| counts.get_mut(place)) {
                *count += 1;
            }
        }
    }
    Some(counts)
}

/// Renders the form with the search and the filters by printer and day. It keeps the other filters.
pub(super) fn tools(language: Language, app: &StaffOrderHandles, query: &JobListQuery, filter: &JobFilter) -> Markup {
    let state = filter.state.map(|state| state.to_string());
    let without_field = [("state", state.as_deref())].into_iter().chain(query.linked());
    html! {
        form class="tools" method="get" action=(JOBS_PATH) role="search" {
            (field("q", &texts::search_field(language), &html! {
                input id="q" name="q" type="search" maxlength="200" value=[query.search_text()];
            }))
            (field("printer", &texts::printer_column(language), &html! {
                select id="printer" name="printer" {
                    option value="" { (texts::all_printers(language)) }
                    (printers(language, app, filter.printer_id))
                }
            }))
            (field("days", &texts::created_field(language), &html! {
                select id="days" name="days" {
                    option value="" { (texts::any_time(language)) }
                    @for (word, days, label) in PERIODS {
                        option value=(word) selected[query.days() == Some(days)] { (label(language)) }
                    }
                }
            }))
            @for (name, value) in without_field {
                @if let Some(value) = value { input type="hidden" name=(name) value=(value); }
            }
            button class="second" type="submit" { (texts::show(language)) }
        }
    }
}

/// Renders the printers as options, by name, and the current one even if it was removed.
fn printers(language: Language, app: &StaffOrderHandles, current: Option<Id>) -> Markup {
    let current = current.map(|id| id.to_string()).unwrap_or_default();
    let present = app.jobs.printers.all_present();
    let printers = present.iter().filter_map(|versioned| versioned.present());
    let mut choices: Vec<(String, &str)> =
        printers.map(|printer| (printer.id.to_string(), printer.fields.name.as_str())).collect();
    choices.sort_unstable_by_key(|(_, name)| *name);
    let choices: Vec<(&str, &str)> = choices.iter().take(MAX_PRINTERS).map(|(id, name)| (id.as_str(), *name)).collect();
    let is_offered = current.is_empty() || choices.iter().any(|(id, _)| *id == current);
    let other = present.iter().filter_map(|versioned| versioned.present());
    let other = other.filter(|_| !is_offered).find(|printer| printer.id.to_string() == current);
    html! {
        (options(&choices, &current))
        @if !is_offered {
            option value=(current) selected {
                @match other {
                    Some(printer) => { (printer.fields.name) },
                    None => { (texts::removed_printer(language)) },
                }
            }
        }
    }
}
