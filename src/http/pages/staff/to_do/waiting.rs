//! Jobs waiting for a printer or a spool, with a single row for all jobs that make the same parts and wait for the same
//! reason.

use maud::html;

use super::{TaskKind, TaskRow, ToDoHandles, job_row};
use crate::design::Icon;
use crate::staff::card_print::job_path_of;
use crate::staff::shell::since;
use crate::times::translated_message;
use domain::job::Job;
use words::Language;
use words::staff::to_do;

/// Jobs that make the same parts and wait for the same reason, most urgent first.
struct WaitingGroup<'a> {
    reason: Option<String>,
    first: &'a Job,
    rest: Vec<&'a Job>,
}

/// Lists the waiting jobs. `total` is the total number of waiting jobs, which may exceed the number in `jobs`.
pub(super) fn waiting(language: Language, app: &ToDoHandles, jobs: &[Job], total: u64) -> TaskKind {
    let groups = groups(jobs, |job| app.jobs.waiting_reason(language, job));
    let rows = groups.iter().map(|group| group.row(language, app)).collect();
    TaskKind { total, ..TaskKind::new(language, "waiting", to_do::kind_waiting, rows) }
}

/// Groups jobs; the groups are in the order of their first jobs.
fn groups(jobs: &[Job], reason_of: impl Fn(&Job) -> Option<String>) -> Vec<WaitingGroup<'_>> {
    let mut groups: Vec<WaitingGroup<'_>> = Vec::new();
    for job in jobs {
        let reason = reason_of(job);
        let is_alike = |group: &&mut WaitingGroup<'_>| group.first.sku_name == job.sku_name && group.reason == reason;
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.rest.push(job),
            None => groups.push(WaitingGroup { reason, first: job, rest: Vec::new() }),
        }
    }
    groups
}

impl WaitingGroup<'_> {
    fn row(&self, language: Language, app: &ToDoHandles) -> TaskRow {
        if self.rest.is_empty() {
            return job_row(language, app, self.first);
        }
        let count = self.rest.len() + 1;
        let group = to_do::group(language, &self.first.sku_name, count);
        let jobs = || std::iter::once(self.first).chain(self.rest.iter().copied());
        let oldest = jobs().map(|job| job.updated_at).min().unwrap_or(self.first.updated_at);
        let title = html! { b { (group) } " " span class="faint small" { (since(language, oldest)) } };
        let list = html! {
            details {
                summary { (to_do::show_jobs(language, count)) }
                ul { @for job in jobs() { li { a href=(job_path_of(job.order_id, job.id)) { (job.number_text()) } } } }
            }
        };
        let row = TaskRow::new(Icon::Clock, title).picture(self.first.file_id).more(Some(list));
        row.detail(html! { @if let Some(reason) = &self.reason { (translated_message(language, reason)) } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::testing::orders::pair;

    #[test]
    fn jobs_that_wait_alike_share_a_row() {
        let (desk, _) = pair();
        let job = |sku_name: &str, priority: u8| {
            let job = desk.job();
            Job { sku_name: sku_name.to_owned(), priority, ..(*job).clone() }
        };
        let jobs = [job("Vase", 9), job("Hook", 8), job("Vase", 7), job("Vase", 1)];
        let reason = |job: &Job| Some(if job.priority < 5 { "Load PLA." } else { "Wait." }.to_owned());
        let rows: Vec<(String, usize, Option<String>)> = groups(&jobs, reason)
            .into_iter()
            .map(|group| (group.first.sku_name.clone(), group.rest.len() + 1, group.reason))
            .collect();
        let row = |name: &str, count: usize, reason: &str| (name.to_owned(), count, Some(reason.to_owned()));
        assert_eq!(rows, [row("Vase", 2, "Wait."), row("Hook", 1, "Wait."), row("Vase", 1, "Load PLA.")]);
    }
}
