#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use sea_orm::{ConnectionTrait as _, DatabaseConnection};

use super::*;
use crate::queries::tests::plan;
use crate::rows::samples::{at, file, id, job, on_each, order, sku, write};
use crate::rows::{Batch, Snapshot};
use domain::file::File;
use domain::job::JobState;
use domain::order::OrderRow;
use domain::sku::Sku;

/// Number of jobs, large enough to go beyond the offset at which pages are looked up by IDs.
const JOBS: u128 = 450;
/// Jobs of each order.
const JOBS_OF_ORDER: u128 = 10;
/// Names of the products, from SKU 300 on. The last one is deleted.
const PRODUCTS: [&str; 3] = ["Cable clip", "Wall hook 7", "House sign"];
/// Names of the G-code files, from file 400 on. The last one is deleted.
const FILES: [&str; 3] = ["clip_v2.gcode", "HOOK.gcode", "sign 100%.gcode"];

fn product(n: u128, name: &str, archived: bool) -> Sku {
    let mut sku = sku(300 + n, &format!("CODE-{n}"));
    name.clone_into(&mut sku.fields.name);
    Sku { archived, ..sku }
}

/// Builds jobs of each product, with each file and without one, on some printers and in some states.
fn sample_jobs() -> Vec<Job> {
    let build = |n: u128| Job {
        sku_id: id(300 + n % 3),
        file_id: (!n.is_multiple_of(4)).then(|| id(400 + n % 4 - 1)),
        printer_id: n.is_multiple_of(2).then(|| id(500 + n % 5)),
        state: if n.is_multiple_of(7) { JobState::Failed } else { JobState::Completed },
        ..job(n, 1 + n / JOBS_OF_ORDER)
    };
    (1..=JOBS).map(build).collect()
}

async fn plant(db: &DatabaseConnection) -> Vec<Job> {
    let jobs = sample_jobs();
    let mut batch = Batch::default();
    for n in 1..=1 + JOBS / JOBS_OF_ORDER {
        batch.push_snapshot(order(n).snapshot(id(n), 1, true).unwrap());
    }
    for (n, name) in (0..).zip(PRODUCTS) {
        let sku = product(n, name, n == 2);
        batch.push_snapshot(sku.snapshot(sku.id, 1, false).unwrap());
    }
    for (n, name) in (0..).zip(FILES) {
        let file = File { name: name.to_owned(), archived: n == 2, ..file(400 + n) };
        batch.push_snapshot(file.snapshot(file.id, 1, false).unwrap());
    }
    let model = File { name: "clip_v2.stl".to_owned(), kind: FileKind::Model, ..file(410) };
    batch.push_snapshot(model.snapshot(model.id, 1, false).unwrap());
    for job in &jobs {
        batch.push_row(&OrderRow::Job(Arc::new(job.clone()))).unwrap();
    }
    write(db, batch).await.unwrap();
    jobs
}

/// Returns whether a text matches a job, according to the page's description.
fn is_named(job: &Job, text: &str) -> bool {
    let text = text.trim().to_lowercase();
    let number = |prefix: &str| text.strip_prefix(prefix).unwrap_or(&text).parse::<i64>().ok();
    let has = |name: &str| name.to_lowercase().contains(&text);
    let product = (0..).zip(PRODUCTS).find(|(n, _)| id(300 + *n) == job.sku_id);
    let file = (0..).zip(FILES).find(|(n, _)| Some(id(400 + *n)) == job.file_id);
    number("job-") == Some(job.number)
        || number("ord-") == Some(job.order_number)
        || product.is_some_and(|(n, name)| has(name) || (n != 2 && has(&format!("CODE-{n}"))))
        || file.is_some_and(|(_, name)| has(name))
}

/// Lists filters of a few states, printers and times.
fn filters() -> Vec<JobFilter> {
    let mut filters = Vec::new();
    for state in [None, Some(JobState::Failed), Some(JobState::Paused)] {
        for printer_id in [None, Some(id(502))] {
            for since in [None, Some(at(300))] {
                filters.push(JobFilter { state, printer_id, since, ..JobFilter::default() });
            }
        }
    }
    filters
}

#[tokio::test]
async fn jobs_are_found_as_if_each_was_looked_at() {
    on_each(async |db| {
        let (jobs, queries) = (plant(db).await, Queries::new(db.clone()));
        let texts =
            ["clip", "HOOK", "sign", "100%", "%", "_", "7", "JOB-000042", "ord-7", " 12 ", "code-2", "code", "no"];
        for text in texts {
            let few = queries.job_search(text).await.unwrap().unwrap();
            assert!(few.finds_few, "{text}");
            // The same jobs are found on the other way.
            for search in [few.clone(), JobSearch { finds_few: false, ..few }] {
                for filter in filters() {
                    let filter = JobFilter { search: Some(search.clone()), ..filter };
                    let is_match = |job: &&Job| filter.matches(job).unwrap();
                    let expected: Vec<Id> = jobs.iter().rev().filter(is_match).map(|job| job.id).collect();
                    for offset in [0, 1, 200, 1_000] {
                        let (listed, total) = queries.jobs(&filter, Page { limit: 7, offset }).await.unwrap();
                        let ids: Vec<Id> = listed.into_iter().map(|job| job.id).collect();
                        let of_page: Vec<Id> = expected.iter().copied().skip(offset as usize).take(7).collect();
                        assert_eq!((ids, total), (of_page, expected.len() as u64), "{text}: {filter:?} from {offset}");
                    }
                }
            }
            let search = queries.job_search(text).await.unwrap();
            let filter = JobFilter { search, ..JobFilter::default() };
            for job in &jobs {
                assert_eq!(filter.matches(job), Some(is_named(job, text)), "{text}: {job:?}");
            }
        }
        assert_eq!(queries.job_search(" ").await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_text_in_too_many_names_is_left_to_the_database() {
    on_each(async |db| {
        let mut batch = Batch::default();
        for n in 1..=u128::from(MAX_NAMES) + 1 {
            let sku = product(10_000 + n, &format!("Part {n}"), false);
            batch.push_snapshot(sku.snapshot(sku.id, 1, false).unwrap());
        }
        for n in 1..=20 {
            let file_id = None;
            let sku_id = id(if n > 10 { 10_300 + n } else { 299 });
            batch.push_row(&OrderRow::Job(Arc::new(Job { sku_id, file_id, ..job(n, 1) }))).unwrap();
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        let search = queries.job_search("part").await.unwrap().unwrap();
        assert_eq!(search.products, NameMatches::Many);
        for search in [search.clone(), JobSearch { finds_few: false, ..search }] {
            let filter = JobFilter { search: Some(search), ..JobFilter::default() };
            let (jobs, total) = queries.jobs(&filter, Page { limit: 3, offset: 1 }).await.unwrap();
            assert_eq!((jobs.iter().map(|job| job.id).collect::<Vec<_>>(), total), (vec![id(19), id(18), id(17)], 10));
            assert_eq!(filter.matches(&jobs[0]), None);
        }
    })
    .await;
}

/// Plants jobs for many products, so that a database has a reason to use its indexes.
async fn plant_many(db: &DatabaseConnection) {
    let mut batch = Batch::default();
    for n in 1..=1_500 {
        batch.push_snapshot(order(n).snapshot(id(n), 1, true).unwrap());
        let sku = product(n, &format!("Part {n}"), false);
        batch.push_snapshot(sku.snapshot(sku.id, 1, false).unwrap());
        let file = File { name: format!("plate {n}.gcode"), ..file(10_000 + n) };
        batch.push_snapshot(file.snapshot(file.id, 1, false).unwrap());
    }
    for n in 1..=6_000 {
        let (sku_id, file_id) = (id(301 + n % 1_500), Some(id(10_001 + n % 1_500)));
        let job = Job { sku_id, file_id, state: JobState::Completed, ..job(n, 1 + n % 1_500) };
        batch.push_row(&OrderRow::Job(Arc::new(job))).unwrap();
    }
    write(db, batch).await.unwrap();
    db.execute_unprepared("ANALYZE").await.unwrap();
}

#[tokio::test]
async fn jobs_are_found_by_an_index() {
    on_each(async |db| {
        plant_many(db).await;
        let queries = Queries::new(db.clone());
        for text in ["JOB-000077", "ORD-1234", "1333", "Part 1444", "plate 1222.", "nobody"] {
            let search = queries.job_search(text).await.unwrap();
            let all = JobFilter { search, ..JobFilter::default() };
            let completed = JobFilter { state: Some(JobState::Completed), since: Some(at(0)), ..all.clone() };
            for filter in [all, completed] {
                let select = queries.job_rows(&filter, JobAccess::Search).unwrap();
                let ids = select.select_only().column(jobs::Column::Id);
                for select in [ids.clone().limit(50), ids] {
                    let plan = plan(db, select).await;
                    let scans = ["SCAN jobs", "Seq Scan on jobs", "ix__jobs__created_at", "ix__jobs__state"];
                    assert!(!scans.iter().any(|scan| plan.contains(scan)), "{text}: {plan}");
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn old_jobs_are_not_looked_for_among_the_newest() {
    on_each(async |db| {
        plant_many(db).await;
        // 2 % of all jobs, which are older than all others.
        let mut batch = Batch::default();
        for n in 1..=30 {
            let sku = product(20_000 + n, &format!("Relic {n}"), false);
            for number in 10_000 + 4 * n..10_004 + 4 * n {
                let old = Job { sku_id: sku.id, file_id: None, created_at: at(0), ..job(number, 1) };
                batch.push_row(&OrderRow::Job(Arc::new(old))).unwrap();
            }
            batch.push_snapshot(sku.snapshot(sku.id, 1, false).unwrap());
        }
        write(db, batch).await.unwrap();
        db.execute_unprepared("ANALYZE").await.unwrap();
        let queries = Queries::new(db.clone());
        let filter = JobFilter { search: queries.job_search("relic").await.unwrap(), ..JobFilter::default() };
        let (some, total) = queries.jobs(&filter, Page { limit: 2, offset: 0 }).await.unwrap();
        assert_eq!((some.iter().map(|job| job.id).collect::<Vec<_>>(), total), (vec![id(10_123), id(10_122)], 120));
        for limit in [2, 50] {
            let select = queries.job_rows(&filter, JobAccess::Search).unwrap().limit(limit);
            let sql = select.build(db.get_database_backend()).to_string();
            assert!(sql.contains("ORDER BY (created_at + 0) DESC"), "{sql}");
            let plan = plan(db, select.select_only().column(jobs::Column::Id)).await;
            assert!(!plan.contains("ix__jobs__created_at"), "{plan}");
        }
    })
    .await;
}
