//! Backups: what they do and do not contain, how to restore one, and the download button.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::SettingsPageHandles;
use crate::form::{Form, PageForm};
use crate::frame::{NEXT_SLOT, SLOT, time, with_parts};
use crate::staff::SETTINGS_PATH;
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use actors::app::backups::schedule::BackupSchedule;
use config::Config;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http_api::production::backup::{BackupHandles, download};
use words::Language;
use words::staff::{settings as texts, shell};

/// Path of the backup page.
pub(super) const PATH: &str = "/shop/settings/backup";

handles! {
    /// Dependencies of the backup page.
    pub(crate) struct BackupPageHandles {
        settings: SettingsPageHandles,
        backup: BackupHandles,
        schedule: Arc<BackupSchedule>,
    }
}

/// Serves the backup page.
pub(super) async fn show(State(app): State<BackupPageHandles>, who: Caller) -> Result<Response, ApiError> {
    page(&app, &who, &Form::default())
}

/// Starts the download of a new backup. If the backup cannot be created, the page is served again with the error.
pub(super) async fn make(State(app): State<BackupPageHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let who = &sent.call.who;
    who.user()?;
    match download(&app.backup, who).await {
        Ok(archive) => Ok(archive),
        Err(error) if matches!(error.status(), StatusCode::CONFLICT | StatusCode::SERVICE_UNAVAILABLE) => {
            let mut form = Form::empty(who.language);
            form.refuse(error);
            Ok(form.answer(page(&app, who, &form)?))
        }
        Err(error) => Err(error),
    }
}

fn page(app: &BackupPageHandles, who: &Caller, form: &Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let (language, title) = (viewer.language(), texts::backup(viewer.language()));
    let of_file = app.settings.config.database_url().expose().starts_with("sqlite:");
    let content = html! {
        p { a href=(SETTINGS_PATH) { (shell::settings(language)) } }
        h1 { (title) }
        @if form.is_refused() {
            (form.alert())
            p { (texts::nothing_downloaded(language)) }
        }
        section class="card" aria-labelledby="download" {
            h2 id="download" { (texts::download(language)) }
            p { (texts::download_text(language)) }
            form method="post" action=(PATH) {
                (hidden())
                p class="acts" { button type="submit" { (texts::download_backup(language)) } }
            }
        }
        (schedule(language, &app.settings.config, &app.schedule))
        (contents(language, of_file))
        (restore(language, of_file))
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

/// Renders a sentence with names of files, settings or commands in place of its variables.
fn with_code(sentence: &str, code: &[&str]) -> Markup {
    let parts: Vec<Markup> = code.iter().map(|text| html! { code { (text) } }).collect();
    with_parts(sentence, &parts.iter().collect::<Vec<_>>())
}

/// Renders the time and place of scheduled backups, and the outcome of the last one.
fn schedule(language: Language, config: &Config, schedule: &BackupSchedule) -> Markup {
    let (settings, status) = (&config.backup, schedule.status());
    let interval = interval(settings.every_hours.duration());
    html! {
        section class="card" aria-labelledby="schedule" {
            h2 id="schedule" { (texts::scheduled_backups(language)) }
            @if schedule.is_on() {
                p { (with_code(&texts::backups_on(language, &interval, SLOT), &[settings.to.as_str()])) }
                @if let Some(at) = status.last {
                    p { (with_parts(&texts::last_backup(language, SLOT), &[&time(language, at)])) }
                } @else {
                    p { (texts::no_backup_yet(language)) }
                }
                @if let Some(why) = &status.failure {
                    p { (texts::backup_retried(language, why)) }
                }
            } @else {
                p { (with_code(&texts::backups_off(language, SLOT, NEXT_SLOT), &["backup.every_hours", "backup.to"])) }
            }
        }
    }
}

/// Formats an interval in hours or, if it has a fraction of an hour, in minutes.
fn interval(span: Duration) -> String {
    let minutes = span.as_secs().div_ceil(60);
    if minutes.is_multiple_of(60) { format!("{} h", minutes / 60) } else { format!("{minutes} min") }
}

fn contents(language: Language, of_file: bool) -> Markup {
    let database = if of_file { "printfloor.db" } else { "printfloor.pgdump" };
    html! {
        section class="card" aria-labelledby="holds" {
            h2 id="holds" { (texts::backup_included(language)) }
            ul {
                li { (with_code(&texts::backup_database(language, SLOT), &[database])) }
                li { (with_code(&texts::backup_files(language, SLOT), &["files/"])) }
                li { (with_code(&texts::backup_documents(language, SLOT), &["documents/"])) }
                li { (with_code(&texts::backup_manifest(language, SLOT), &["manifest.json"])) }
            }
            h2 { (texts::backup_not_included(language)) }
            ul {
                li {
                    (with_code(&texts::backup_secrets(language, SLOT, NEXT_SLOT), &["secrets.env", ".env"])) " "
                    (texts::backup_secrets_copy(language)) " "
                    (with_code(&texts::backup_secrets_use(language, SLOT, NEXT_SLOT), &["SECRETS_KEY", "API_KEY_SALT"]))
                }
                li { (with_code(&texts::backup_other(language, SLOT), &["printfloor.toml"])) }
            }
        }
    }
}

fn restore(language: Language, of_file: bool) -> Markup {
    let command = "printfloor restore --data NEW_FOLDER printfloor-backup-DATE.tar";
    let data = if of_file {
        with_code(&texts::restore_data(language, SLOT), &[command])
    } else {
        with_code(&texts::restore_data_and_database(language, SLOT, NEXT_SLOT), &["DATABASE_URL", command])
    };
    let review = html! { a href=(super::restore::PATH) { (texts::restore_review_link(language)) } };
    html! {
        section class="card" aria-labelledby="restore" {
            h2 id="restore" { (texts::restore_backup(language)) }
            ol {
                li { (with_code(&texts::restore_stop(language, SLOT), &["systemctl stop printfloor"])) }
                li { (with_code(&texts::restore_settings(language, SLOT, NEXT_SLOT), &[".env", "printfloor.toml"])) }
                li { (data) }
                li { (with_code(&texts::restore_secrets(language, SLOT), &["secrets.env"])) }
                li { (with_code(&texts::restore_start(language, SLOT), &["printfloor serve --data NEW_FOLDER"])) }
                li { (with_parts(&texts::restore_review(language, SLOT), &[&review])) }
            }
            p { (texts::restore_test(language)) }
        }
    }
}
