//! Work done since the shift began, by person, as a panel beside the tasks: parts signed off, beds cleared, deliveries
//! and shipments. It is read from the last 2,000 events and the stock movements of the shift, once for all viewers
//! until something happens.

use std::collections::BTreeSet;
use std::sync::Arc;

use maud::{Markup, html};
use tokio::sync::OnceCell;

use super::{ACTIVITY_PATH, ToDoHandles};
use crate::frame::{NEXT_SLOT, SLOT, with_parts};
use crate::staff::card_print::job_path_of;
use crate::staff::memo::Memo;
use crate::staff::names::ActorNames;
use crate::staff::shell::time_of_day;
use crate::staff::sign_off::defect_name;
use crate::staff::stock::material_path;
use actors::app::App;
use config::Config;
use domain::amount::Amount;
use domain::audit::AuditedAct;
use domain::id::Id;
use domain::material::stock_amount;
use domain::shift::{PersonWork, ShiftEntry, SignedParts, WORK_EVENTS, work_by_person};
use domain::time::Timestamp;
use http::error::ApiError;
use http::resource_state::ResourceState;
use store::queries::AuditFilter;
use words::Language;
use words::staff::{common, to_do};

/// Maximum number of events read for a shift, latest first.
const MAX_EVENTS: u64 = 2000;
/// Maximum number of deliveries read for a shift, latest first.
const MAX_DELIVERIES: u64 = 200;
/// Maximum number of people shown, most recently active first.
const MAX_PEOPLE: usize = 8;
/// Maximum number of shifts whose work is remembered at a time: when one begins, the one before is still read.
const MAX_SHIFTS: usize = 2;
/// Maximum number of prints with rejected parts, and of materials, shown for each person.
const MAX_LINES: usize = 3;

/// State of the shop when the work was read: its last event and the commits of the stock.
type ShiftMark = (i64, i64);

/// Work of a shift as last read, by the start of the shift.
pub(crate) struct ShiftCache(Memo<ShiftMark, Timestamp, OnceCell<Arc<Vec<PersonWork>>>>);

impl ResourceState for ShiftCache {
    fn create(_: &App, _: &Config) -> Self {
        Self(Memo::new(MAX_SHIFTS))
    }
}

impl ShiftCache {
    /// Returns the work since a time as last read in a state of the shop, or reads it.
    async fn get<E>(
        &self,
        mark: ShiftMark,
        start: Timestamp,
        read: impl Future<Output = Result<Vec<PersonWork>, E>>,
    ) -> Result<Arc<Vec<PersonWork>>, E> {
        let work = self.0.cell(mark, start);
        let people = work.get_or_try_init(|| async { read.await.map(Arc::new) }).await?;
        Ok(people.clone())
    }
}

/// Renders the panel.
pub(super) async fn done(language: Language, app: &ToDoHandles) -> Result<Markup, ApiError> {
    let now = app.board.shop.environment.now();
    let start = app.config.shop.hours().unwrap_or_default().shift_start(now);
    let mark = (*app.outbox.last().borrow(), app.board.stock_commits());
    let people = app.shift.get(mark, start, work_since(app, start)).await?;
    let visible = people.get(..MAX_PEOPLE.min(people.len())).unwrap_or_default();
    let actors: BTreeSet<&str> = visible.iter().map(|person| person.actor.as_str()).collect();
    let names = app.log.names.actors(language, &actors).await?;
    let material = |id: Id| {
        let versioned = app.board.shop.materials.resident(id)?.read();
        versioned.state.as_ref().map(|material| (material.fields.name.clone(), material.fields.kind))
    };
    let delivery = |id: Id, amount: Amount| {
        let (name, kind) = material(id)?;
        Some(html! { (stock_amount(language, amount, kind)) " " a href=(material_path(id)) { (name) } })
    };
    let row = |person: &PersonWork| {
        let received = person.received.iter().take(MAX_LINES).filter_map(|(id, amount)| delivery(*id, *amount));
        row(language, person, &names, &received.collect::<Vec<_>>())
    };
    let rows: Vec<Markup> = visible.iter().map(row).collect();
    Ok(panel(language, start, &rows, people.len().saturating_sub(visible.len())))
}

/// Reads the work since a time, by person.
async fn work_since(app: &ToDoHandles, start: Timestamp) -> Result<Vec<PersonWork>, ApiError> {
    let queries = &app.jobs.queries;
    let events = queries.events_since(&WORK_EVENTS, start, MAX_EVENTS).await?;
    let mut entries: Vec<ShiftEntry> = events.iter().filter_map(|one| ShiftEntry::of_event(&one.event)).collect();
    let action = Some(AuditedAct::MaterialAdjust.name().to_owned());
    let filter = AuditFilter { action, from: Some(start), ..AuditFilter::default() };
    let adjusted = queries.audit_stretch(&filter, None, MAX_DELIVERIES as usize).await?.entries;
    let materials: BTreeSet<Id> = adjusted.iter().map(|entry| entry.subject_id).collect();
    let materials: Vec<Id> = materials.into_iter().collect();
    let movements = queries.receipts_since(&materials, start, MAX_DELIVERIES).await?;
    entries.extend(movements.iter().filter_map(ShiftEntry::of_movement));
    Ok(work_by_person(entries))
}

fn panel(language: Language, start: Timestamp, rows: &[Markup], others: usize) -> Markup {
    html! {
        section class="panel pad work" aria-labelledby="done-title" {
            h2 id="done-title" { (to_do::done_heading(language)) }
            p class="small muted" {
                (with_parts(&to_do::done_since(language, SLOT), &[&time_of_day(language, start)]))
            }
            @if rows.is_empty() { p { (to_do::done_nothing(language)) } }
            @else { ol class="timeline" { @for row in rows { (row) } } }
            @if others > 0 { p class="small muted" { (to_do::others(language, others)) } }
            a class="small" href=(ACTIVITY_PATH) { (common::recent_activity(language)) }
        }
    }
}

/// Renders the work of a person, with the deliveries that the person has received.
fn row(language: Language, person: &PersonWork, names: &ActorNames, received: &[Markup]) -> Markup {
    let name = html! { b { (names.name(&person.actor).text) } };
    let work = html! { (facts(language, person).join(", ")) };
    let further = person.rejected.len().saturating_sub(MAX_LINES);
    html! {
        li class=(if person.rejected.is_empty() { "ok" } else { "warn" }) {
            (with_parts(&to_do::done_by(language, SLOT, NEXT_SLOT), &[&name, &work]))
            " " span class="faint small" { (time_of_day(language, person.last_at)) }
            @for signed in person.rejected.iter().take(MAX_LINES) {
                div class="small" { a href=(job_path_of(signed.order_id, signed.job_id)) { (rejected(language, signed)) } }
            }
            @if further > 0 { div class="small muted" { (to_do::others(language, further)) } }
            @for delivery in received { div class="small muted" { (delivery) } }
        }
    }
}

/// Returns the numbers of a person's work, in words.
fn facts(language: Language, person: &PersonWork) -> Vec<String> {
    let PersonWork { good, parts, beds, shipments, .. } = *person;
    let deliveries = person.received.len();
    let facts = [
        (parts > 0).then(|| to_do::done_parts(language, good, parts)),
        (beds > 0).then(|| to_do::done_beds(language, beds)),
        (shipments > 0).then(|| to_do::done_shipments(language, shipments)),
        (deliveries > 0).then(|| to_do::done_deliveries(language, deliveries)),
    ];
    facts.into_iter().flatten().collect()
}

/// Describes a print with rejected parts: `1 of 6 bad: layer shift`.
fn rejected(language: Language, signed: &SignedParts) -> String {
    let (bad, parts) = (signed.bad_count(), signed.plate_parts);
    match &signed.reason {
        Some(reason) => to_do::done_bad_reason(language, bad, parts, &defect_name(language, reason)),
        None => to_do::done_bad(language, bad, parts),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;

    fn person() -> PersonWork {
        let signed = SignedParts {
            attempt_id: Id::ONLY,
            job_id: Id::ONLY,
            order_id: Id::ONLY,
            good_count: 5,
            plate_parts: 6,
            reason: Some("layer_shift".to_owned()),
        };
        PersonWork {
            actor: "mia".to_owned(),
            last_at: Timestamp(0),
            beds: 2,
            good: 17,
            parts: 18,
            rejected: vec![signed],
            received: vec![(Id::ONLY, Amount::units(1000))],
            shipments: 1,
        }
    }

    #[test]
    fn a_person_has_one_entry_with_the_rejected_parts_below() {
        let html = |language| row(language, &person(), &ActorNames::default(), &[]).into_string();
        let english = html(Language::English);
        let work = "<b>mia</b>: 17 of 18 parts good, 2 beds cleared, 1 shipment, 1 material received <span";
        for text in ["<li class=\"warn\">", work, ">1 of 6 bad: layer shift</a>"] {
            assert!(english.contains(text), "{text} in {english}");
        }
        let german = html(Language::German);
        for text in [
            "17 von 18 Teilen gut, 2 Druckbetten abgeräumt, 1 Sendung, 1 Material eingebucht <span",
            ">1 von 6 Ausschuss: Schichtversatz</a>",
        ] {
            assert!(german.contains(text), "{text} in {german}");
        }
    }

    #[test]
    fn more_than_a_few_people_and_prints_are_counted() {
        let mut mia = person();
        mia.rejected = vec![mia.rejected[0].clone(); MAX_LINES + 2];
        let html = |language| row(language, &mia, &ActorNames::default(), &[]).into_string();
        assert!(html(Language::English).contains(">2 more</div>"), "{}", html(Language::English));
        assert!(html(Language::German).contains(">2 weitere</div>"), "{}", html(Language::German));
        let people = panel(Language::English, Timestamp(0), &[html! { li {} }], 4).into_string();
        assert!(people.contains(">4 more</p>"), "{people}");
        let one = |language| facts(language, &PersonWork { good: 0, parts: 1, ..person() }).swap_remove(0);
        assert_eq!(Language::ALL.map(one), ["0 of 1 part good", "0 von 1 Teil gut"]);
    }

    #[test]
    fn a_shift_without_work_says_what_appears_here() {
        let html = panel(Language::English, Timestamp(0), &[], 0).into_string();
        assert!(html.contains("Nothing yet.") && html.contains("href=\"/to-do/activity\""), "{html}");
        assert!(!html.contains("<ol"), "{html}");
    }

    /// Returns the work from the cache; counts the reads.
    async fn cached(
        cache: &ShiftCache,
        reads: &Cell<usize>,
        (start, mark): (Timestamp, ShiftMark),
    ) -> Arc<Vec<PersonWork>> {
        let read = async {
            reads.set(reads.get() + 1);
            tokio::task::yield_now().await;
            Ok::<_, Infallible>(vec![person()])
        };
        let Ok(people) = cache.get(mark, start, read).await;
        people
    }

    #[tokio::test]
    async fn work_is_read_by_one_for_all_and_again_once_something_has_happened() {
        let (cache, reads) = (ShiftCache(Memo::new(MAX_SHIFTS)), Cell::new(0));
        let mark = (Timestamp(1), (7, 3));
        let [first, second] = [mark, mark].map(|mark| cached(&cache, &reads, mark));
        let (first, second) = futures::future::join(first, second).await;
        assert!(Arc::ptr_eq(&first, &second) && *first == [person()], "{first:?} {second:?}");
        assert_eq!(reads.get(), 1, "at the same time");
        let others = [(Timestamp(2), (7, 3)), (Timestamp(1), (8, 3)), (Timestamp(1), (7, 4))];
        for (n, other) in others.into_iter().enumerate() {
            cached(&cache, &reads, other).await;
            cached(&cache, &reads, other).await;
            assert_eq!(reads.get(), n + 2, "{other:?}");
        }
    }
}
