//! Backups: what they do and do not contain, how to restore one, and the download button.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::SettingsPageHandles;
use crate::form::PageForm;
use crate::staff::SETTINGS_PATH;
use crate::staff::form::Form;
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http_api::production::backup::{BackupHandles, download};

/// Path of the backup page.
pub(super) const PATH: &str = "/shop/settings/backup";

handles! {
    /// Dependencies of the backup page.
    pub(crate) struct BackupPageHandles {
        settings: SettingsPageHandles,
        backup: BackupHandles,
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
    let of_file = app.settings.config.database_url().expose().starts_with("sqlite:");
    let content = html! {
        p { a href=(SETTINGS_PATH) { "Settings" } }
        h1 { "Backup" }
        @if form.is_refused() {
            (form.alert())
            p { "Nothing was downloaded." }
        }
        section class="card" aria-labelledby="download" {
            h2 id="download" { "Download" }
            p { "Download your shop's current data as a tar archive. The shop keeps running meanwhile." }
            form method="post" action=(PATH) {
                (hidden())
                p class="acts" { button type="submit" { "Download backup" } }
            }
        }
        (contents(of_file))
        (restore(of_file))
    };
    Ok(viewer.page(StaffSection::Settings, "Backup", &app.settings.board.view(), &content))
}

fn contents(of_file: bool) -> Markup {
    html! {
        section class="card" aria-labelledby="holds" {
            h2 id="holds" { "Included" }
            ul {
                li {
                    code { (if of_file { "printfloor.db" } else { "printfloor.pgdump" }) }
                    ": a verified snapshot of the database"
                }
                li { code { "files/" } ": G-code, models and pictures" }
                li { code { "documents/" } ": rendered invoices, if they are stored on this server" }
                li { code { "manifest.json" } ": the row count of each table, and the size and SHA-256 of each file. It is the last file, so an archive without it is incomplete." }
            }
            h2 { "Not included" }
            ul {
                li {
                    "Server secrets: " code { "secrets.env" } " in the data directory, and " code { ".env" }
                    ". Keep a copy of both in another place. Without the same " code { "SECRETS_KEY" } " and "
                    code { "API_KEY_SALT" } ", the server does not start with this data, and the passwords and keys of printers and integrations in it cannot be read."
                }
                li { code { "printfloor.toml" } ", slicer profiles, emails written to the data directory, and exported tables" }
            }
        }
    }
}

fn restore(of_file: bool) -> Markup {
    html! {
        section class="card" aria-labelledby="restore" {
            h2 id="restore" { "Restore a backup" }
            ol {
                li { "Stop the server: " code { "systemctl stop printfloor" } }
                li {
                    "Put " code { ".env" } " and " code { "printfloor.toml" }
                    " back in their original location. The next step writes to the locations set in these files."
                }
                li {
                    "Restore the backup into an empty data directory"
                    @if !of_file { " and an empty database, set in " code { "DATABASE_URL" } }
                    ": " code { "printfloor restore --data NEW_FOLDER printfloor-backup-DATE.tar" }
                }
                li { "Copy " code { "secrets.env" } " to that folder." }
                li { "Start the server with that folder: " code { "printfloor serve --data NEW_FOLDER" } }
                li { "Review the " a href=(super::restore::PATH) { "restore" } ". Print jobs don't start until you do." }
            }
            p { "Test a restore on another machine before you need one." }
        }
    }
}
