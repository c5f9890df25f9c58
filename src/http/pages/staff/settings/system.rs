//! Server status: readiness, database, Redis, disk, components, actors and their restarts.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::{SettingsPageHandles, backup};
use crate::staff::SETTINGS_PATH;
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use actors::app::customer_space::{CustomerSpace, CustomerSpaceSummary};
use config::{Config, Mode};
use domain::customer_space::SpaceRefusal;
use domain::principal::Role;
use files::disk::DiskCapacity;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http_api::production::health::{HealthHandles, SystemReport, system_report};
use kernel::entry::ActorSummary;
use store::connect;

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
    let report = system_report(&app.health).await;
    let folder = config.server.data_dir.clone();
    let disk = tokio::task::spawn_blocking(move || DiskCapacity::of(&folder)).await.map_err(ApiError::internal)?.ok();
    let space = app.space.summary().await.ok();
    let (tone, words) = match (&report.fault, report.degraded.is_empty()) {
        (Some(_), _) => (Tone::Error, "Not ready"),
        (None, false) => (Tone::Attention, "Degraded"),
        (None, true) => (Tone::Working, "Ready"),
    };
    let content = html! {
        p { a href=(SETTINGS_PATH) { "Settings" } }
        div id="system" data-fresh="" {
            h1 { "System " span class=(tone.class()) { (words) } }
            @if let Some(fault) = &report.fault { p class="bad" { (fault) } }
            @if !report.degraded.is_empty() {
                section class="card" aria-labelledby="degraded" {
                    h2 id="degraded" { "Warnings" }
                    ul class="rows" { @for words in &report.degraded { li { (words) } } }
                }
            }
            (glance(config, &report, disk, space, who.has(Role::Admin)))
            (components(&report))
            (kinds(&report))
            (troubled(&report.troubled))
        }
        @if who.has(Role::Admin) {
            p { a href=(backup::PATH) { "Backup" } ": download a copy of your shop's data" }
        }
        p class="soft" {
            "For monitoring: " a href="/readyz" { "/readyz" } ", " a href="/api/system/actors" { "/api/system/actors" }
            ", " a href="/metrics" { "/metrics" }
        }
    };
    Ok(viewer.page(StaffSection::Settings, "System", &app.settings.board.view(), &content))
}

/// Renders a status label: working, or failing with the given description.
fn state(trouble: Option<&str>) -> Markup {
    html! {
        @match trouble {
            None => { span class=(Tone::Working.class()) { "ok" } },
            Some(trouble) => { span class=(Tone::Error.class()) { (trouble) } },
        }
    }
}

/// Formats a number of bytes in gigabytes (10⁹ bytes).
fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

fn glance(
    config: &Config,
    report: &SystemReport,
    disk: Option<DiskCapacity>,
    space: Option<CustomerSpaceSummary>,
    admin: bool,
) -> Markup {
    let place = connect::display_url(config.database_url().expose());
    // Where it is on the machine is for admins.
    let database = if admin { &place } else { place.split(' ').next().unwrap_or_default() };
    let away = |up: bool| (!up).then_some("does not respond");
    html! {
        section class="card" aria-labelledby="glance" {
            h2 id="glance" { "At a glance" }
            dl class="left" {
                dt { "Version" }
                dd {
                    (env!("CARGO_PKG_VERSION"))
                    @if config.mode == Mode::Development { ", development mode" } @else { ", production mode" }
                }
                dt { "Database" }
                dd { (database) " " (state(report.database_trouble)) }
                dt { "Redis" }
                dd { @match report.redis_up { Some(up) => { (state(away(up))) }, None => { "not used" } } }
                dt { "Disk" }
                dd {
                    @match disk {
                        Some(room) => {
                            (gigabytes(room.free_bytes)) " of " (gigabytes(room.total_bytes)) " free "
                            @if is_low(room) { span class=(Tone::Attention.class()) { "low" } }
                            @else { (state(None)) }
                        },
                        None => { "unknown" },
                    }
                }
                dt { "Customer uploads" }
                dd { @match space { Some(space) => { (customer_files(&space)) }, None => { "unknown" } } }
            }
        }
    }
}

/// Renders the disk space used by customer uploads that have not been processed yet, and whether more are accepted.
fn customer_files(space: &CustomerSpaceSummary) -> Markup {
    html! {
        (gigabytes(space.stored.unclaimed_bytes))
        @if space.limits.unclaimed_max_bytes > 0 { " of " (gigabytes(space.limits.unclaimed_max_bytes)) }
        " used by unprocessed uploads "
        (state(space.refusal.map(|refusal| match refusal {
            SpaceRefusal::Unclaimed => "new uploads are rejected",
            SpaceRefusal::Disk => "new uploads are rejected: disk nearly full",
        })))
    }
}

fn is_low(room: DiskCapacity) -> bool {
    room.free_bytes < room.total_bytes / 100 * LOW_DISK_PERCENT
}

fn components(report: &SystemReport) -> Markup {
    html! {
        section class="card" aria-labelledby="components" {
            h2 id="components" { "Components" }
            div class="table" tabindex="0" role="region" aria-label="Component status" {
                table {
                    thead {
                        tr { th scope="col" { "Component" } th scope="col" { "Status" } th scope="col" class="number" { "Crashes" } }
                    }
                    tbody {
                        @for one in &report.components {
                            tr {
                                th scope="row" { (one.name) }
                                td { (state(one.trouble)) }
                                td class="number" { (one.crashes) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn kinds(report: &SystemReport) -> Markup {
    html! {
        section class="card" aria-labelledby="kinds" {
            h2 id="kinds" { "Actors by kind" }
            div class="table" tabindex="0" role="region" aria-label="Actors" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Kind" } th scope="col" { "In memory" }
                            th scope="col" class="number" { "Queued commands" } th scope="col" class="number" { "Restarts" }
                            th scope="col" class="number" { "Rejected (load)" }
                        }
                    }
                    tbody {
                        @for kind in &report.kinds {
                            tr {
                                th scope="row" { (kind.kind.replace('_', " ")) }
                                td {
                                    @if kind.statuses.is_empty() { "none" }
                                    @for (n, (status, count)) in kind.statuses.iter().enumerate() {
                                        @if n > 0 { ", " }
                                        (count) " " (status)
                                    }
                                }
                                td class="number" { (kind.waiting) }
                                td class="number" { (kind.crashes) }
                                td class="number" { (kind.overloaded) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn troubled(actors: &[ActorSummary]) -> Markup {
    html! {
        @if !actors.is_empty() {
            section class="card" aria-labelledby="troubled" {
                h2 id="troubled" { "Crashed actors" }
                ul class="rows" {
                    @for actor in actors {
                        li {
                            span { (actor.kind) " " code { (actor.id) } }
                            span { (actor.status) ", " (actor.restarts) " restarts" }
                            @if let Some(error) = &actor.last_error { span class="full bad" { (error) } }
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
        assert_eq!(gigabytes(1_530_000_000), "1.5 GB");
        assert!(is_low(DiskCapacity { free_bytes: 9, total_bytes: 1_000 }));
        assert!(!is_low(DiskCapacity { free_bytes: 200, total_bytes: 1_000 }));
    }
}
