//! Server status: readiness, database, Redis, disk, components, actors and their restarts.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::{SettingsPageHandles, backup};
use crate::frame::{SLOT, with_parts};
use crate::staff::SETTINGS_PATH;
use crate::staff::sheet::number_class;
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use actors::app::customer_space::{CustomerSpace, CustomerSpaceSummary};
use config::{Config, Mode};
use domain::customer_space::SpaceRefusal;
use domain::notation;
use domain::principal::Role;
use files::disk::DiskCapacity;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http_api::production::health::{HealthHandles, ServerTrouble, SystemReport, system_report};
use kernel::entry::ActorSummary;
use store::connect;
use words::Language;
use words::staff::{shell, system as texts};

/// Path of the server status page.
pub(super) const PATH: &str = "/shop/settings/system";
/// Percentage of free disk space below which the page shows a warning.
const LOW_DISK_PERCENT: u64 = 10;

handles! {
    /// Dependencies of the server status page.
    pub(crate) struct SystemPageHandles {
        settings: SettingsPageHandles,
        health: HealthHandles,
        space: Arc<CustomerSpace>,
    }
}

/// Serves the server status page.
pub(super) async fn show(State(app): State<SystemPageHandles>, who: Caller) -> Result<Response, ApiError> {
    let config = &app.settings.config;
    let viewer = StaffViewer::new(&who, config)?;
    let (language, title) = (viewer.language(), texts::title(viewer.language()));
    let report = system_report(&app.health).await;
    let folder = config.server.data_dir.clone();
    let disk = tokio::task::spawn_blocking(move || DiskCapacity::of(&folder)).await.map_err(ApiError::internal)?.ok();
    let space = app.space.summary().await.ok();
    let (tone, words) = match (&report.fault, report.degraded.is_empty()) {
        (Some(_), _) => (Tone::Error, texts::not_ready(language)),
        (None, false) => (Tone::Attention, texts::degraded(language)),
        (None, true) => (Tone::Working, texts::ready(language)),
    };
    let content = html! {
        p { a href=(SETTINGS_PATH) { (shell::settings(language)) } }
        div id="system" data-fresh="" {
            h1 { (title) " " span class=(tone.class()) { (words) } }
            @if let Some(fault) = &report.fault { p class="bad" lang=[language.foreign_tag()] { (fault) } }
            @if !report.degraded.is_empty() {
                section class="card" aria-labelledby="degraded" {
                    h2 id="degraded" { (texts::warnings(language)) }
                    ul class="rows" lang=[language.foreign_tag()] { @for words in &report.degraded { li { (words) } } }
                }
            }
            (glance(language, config, &report, (disk, space), who.has(Role::Admin)))
            (components(language, &report))
            (kinds(language, &report))
            (troubled(language, &report.troubled))
        }
        @if who.has(Role::Admin) {
            @let link = html! { a href=(backup::PATH) { (texts::backup_link(language)) } };
            p { (with_parts(&texts::backup_text(language, SLOT), &[&link])) }
        }
        p class="soft" {
            (texts::monitoring(language)) " " a href="/readyz" { "/readyz" } ", "
            a href="/api/system/actors" { "/api/system/actors" } ", " a href="/metrics" { "/metrics" }
        }
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

fn trouble_text(language: Language, trouble: ServerTrouble) -> String {
    match trouble {
        ServerTrouble::NoResponse => texts::no_response(language),
        ServerTrouble::DiskFull => texts::disk_full(language),
        ServerTrouble::ReadOnly => texts::read_only(language),
        ServerTrouble::OutOfService => texts::out_of_service(language),
        ServerTrouble::Down => texts::down(language),
    }
}

/// Renders a status label: working, or failing with the given problem.
fn server_state(language: Language, trouble: Option<ServerTrouble>) -> Markup {
    let text = trouble.map(|trouble| trouble_text(language, trouble));
    state(language, text.as_deref())
}

/// Renders a status label: working, or failing with the given description.
fn state(language: Language, trouble: Option<&str>) -> Markup {
    html! {
        @match trouble {
            None => { span class=(Tone::Working.class()) { (texts::works(language)) } },
            Some(trouble) => { span class=(Tone::Error.class()) { (trouble) } },
        }
    }
}

/// Formats a number of bytes in gigabytes (10⁹ bytes).
fn gigabytes(language: Language, bytes: u64) -> String {
    format!("{} GB", notation::decimal(language, format!("{:.1}", bytes as f64 / 1e9)))
}

fn glance(
    language: Language,
    config: &Config,
    report: &SystemReport,
    (disk, space): (Option<DiskCapacity>, Option<CustomerSpaceSummary>),
    admin: bool,
) -> Markup {
    let place = connect::display_url(config.database_url().expose());
    // Where it is on the machine is for admins.
    let database = if admin { &place } else { place.split(' ').next().unwrap_or_default() };
    let version = env!("CARGO_PKG_VERSION");
    let version = if config.mode == Mode::Development {
        texts::development_mode(language, version)
    } else {
        texts::production_mode(language, version)
    };
    let away = |up: bool| (!up).then_some(ServerTrouble::NoResponse);
    html! {
        section class="card" aria-labelledby="glance" {
            h2 id="glance" { (texts::glance(language)) }
            dl class="left" {
                dt { (texts::version(language)) }
                dd { (version) }
                dt { (texts::database(language)) }
                dd { (database) " " (server_state(language, report.database_trouble)) }
                dt { (texts::redis(language)) }
                dd {
                    @match report.redis_up {
                        Some(up) => { (server_state(language, away(up))) },
                        None => { (texts::redis_unused(language)) },
                    }
                }
                dt { (texts::disk(language)) }
                dd {
                    @match disk {
                        Some(room) => { (disk_space(language, room)) },
                        None => { (texts::disk_unknown(language)) },
                    }
                }
                dt { (texts::uploads(language)) }
                dd {
                    @match space {
                        Some(space) => { (customer_files(language, &space)) },
                        None => { (texts::uploads_unknown(language)) },
                    }
                }
            }
        }
    }
}

/// Renders the disk space used by customer uploads that have not been processed yet, and whether more are accepted.
fn customer_files(language: Language, space: &CustomerSpaceSummary) -> Markup {
    let used = gigabytes(language, space.stored.unclaimed_bytes);
    let text = match space.limits.unclaimed_max_bytes {
        0 => texts::uploads_used(language, &used),
        limit => texts::uploads_used_of(language, &used, &gigabytes(language, limit)),
    };
    let refusal = space.refusal.map(|refusal| match refusal {
        SpaceRefusal::Unclaimed => texts::uploads_rejected(language),
        SpaceRefusal::Disk => texts::uploads_rejected_disk(language),
    });
    html! { (text) " " (state(language, refusal.as_deref())) }
}

fn disk_space(language: Language, room: DiskCapacity) -> Markup {
    let (free, total) = (gigabytes(language, room.free_bytes), gigabytes(language, room.total_bytes));
    html! {
        (texts::disk_space(language, &free, &total)) " "
        @if is_low(room) { span class=(Tone::Attention.class()) { (texts::disk_low(language)) } }
        @else { (state(language, None)) }
    }
}

fn is_low(room: DiskCapacity) -> bool {
    room.free_bytes < room.total_bytes / 100 * LOW_DISK_PERCENT
}

fn components(language: Language, report: &SystemReport) -> Markup {
    html! {
        section class="card" aria-labelledby="components" {
            h2 id="components" { (texts::components(language)) }
            div class="table list" tabindex="0" role="region" aria-label=(texts::component_table(language)) {
                table {
                    thead {
                        tr {
                            th scope="col" { (texts::component(language)) }
                            th scope="col" { (texts::status(language)) }
                            th scope="col" class="number" { (texts::crashes(language)) }
                        }
                    }
                    tbody {
                        @for one in &report.components {
                            tr {
                                th scope="row" lang=[language.foreign_tag()] { (one.name) }
                                td { (server_state(language, one.trouble)) }
                                td class=(number_class(one.crashes == 0)) data-label=(texts::crashes(language)) { (one.crashes) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn kinds(language: Language, report: &SystemReport) -> Markup {
    let [queued, restarts, rejected] =
        [texts::queued_commands(language), texts::restarts(language), texts::rejected(language)];
    html! {
        section class="card" aria-labelledby="kinds" {
            h2 id="kinds" { (texts::actors_by_kind(language)) }
            div class="table list" tabindex="0" role="region" aria-label=(texts::actor_table(language)) {
                table {
                    thead {
                        tr {
                            th scope="col" { (texts::kind(language)) }
                            th scope="col" { (texts::in_memory(language)) }
                            @for column in [&queued, &restarts, &rejected] { th scope="col" class="number" { (column) } }
                        }
                    }
                    tbody {
                        @for kind in &report.kinds {
                            tr {
                                th scope="row" lang=[language.foreign_tag()] { (kind.kind.replace('_', " ")) }
                                td class="wide" {
                                    @if kind.statuses.is_empty() { (texts::none(language)) }
                                    @for (n, (status, count)) in kind.statuses.iter().enumerate() {
                                        @if n > 0 { ", " }
                                        (actor_count(language, status, *count))
                                    }
                                }
                                td class=(number_class(kind.waiting == 0)) data-label=(queued) { (kind.waiting) }
                                td class=(number_class(kind.crashes == 0)) data-label=(restarts) { (kind.crashes) }
                                td class=(number_class(kind.overloaded == 0)) data-label=(rejected) { (kind.overloaded) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the number of actors with a status, as [`ActorSummary::status`] names it.
fn actor_count(language: Language, status: &str, count: u64) -> String {
    match status {
        "starting" => texts::actors_starting(language, count),
        "running" => texts::actors_running(language, count),
        "resting" => texts::actors_resting(language, count),
        "parked" => texts::actors_parked(language, count),
        other => format!("{count} {other}"),
    }
}

/// Returns the status of an actor that has crashed, and the number of its restarts.
fn crash_text(language: Language, actor: &ActorSummary) -> String {
    match actor.status {
        "starting" => texts::crashed_starting(language, actor.restarts),
        "running" => texts::crashed_running(language, actor.restarts),
        "resting" => texts::crashed_resting(language, actor.restarts),
        "parked" => texts::crashed_parked(language, actor.restarts),
        other => texts::crashed_otherwise(language, other, actor.restarts),
    }
}

fn troubled(language: Language, actors: &[ActorSummary]) -> Markup {
    html! {
        @if !actors.is_empty() {
            section class="card" aria-labelledby="troubled" {
                h2 id="troubled" { (texts::crashed(language)) }
                ul class="rows" {
                    @for actor in actors {
                        li {
                            span { (actor.kind) " " code { (actor.id) } }
                            span { (crash_text(language, actor)) }
                            @if let Some(error) = &actor.last_error {
                                span class="full bad" lang=[language.foreign_tag()] { (error) }
                            }
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

    #[test]
    fn room_is_told_for_people() {
        assert_eq!(gigabytes(Language::English, 1_530_000_000), "1.5 GB");
        assert_eq!(gigabytes(Language::German, 1_530_000_000), "1,5 GB");
        assert!(is_low(DiskCapacity { free_bytes: 9, total_bytes: 1_000 }));
        assert!(!is_low(DiskCapacity { free_bytes: 200, total_bytes: 1_000 }));
    }

    #[test]
    fn every_status_of_an_actor_has_words() {
        for status in ["starting", "running", "resting", "parked"] {
            assert_eq!(actor_count(Language::English, status, 1_200), format!("1200 {status}"));
            let german = actor_count(Language::German, status, 1_200);
            assert!(german.starts_with("1.200 ") && !german.contains(status), "{german}");
        }
    }
}
