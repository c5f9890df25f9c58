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
            let mut form = Form::default();
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
            p { "One archive (tar) of everything that the shop has now. The shop goes on meanwhile." }
            form method="post" action=(PATH) {
                (hidden())
                p class="acts" { button type="submit" { "Download a backup" } }
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
            h2 id="holds" { "What it holds" }
            ul {
                li {
                    code { (if of_file { "printfloor.db" } else { "printfloor.pgdump" }) }
                    ": the database of one moment, checked"
                }
                li { code { "files/" } ": G-code, models and pictures" }
                li { code { "documents/" } ": rendered invoices, where they are kept on this machine" }
                li { code { "manifest.json" } ": the rows of each table, and size and SHA-256 of each file. It comes last: a download without it broke off." }
            }
            h2 { "What it does not hold" }
            ul {
                li {
                    "The secrets of the server: " code { "secrets.env" } " in the data folder, and " code { ".env" }
                    ". Keep a copy of them in another place. Without the same " code { "SECRETS_KEY" } " and "
                    code { "API_KEY_SALT" } " the server does not start on the data, and the passwords and keys of printers and other systems in it cannot be read."
                }
                li { code { "printfloor.toml" } ", profiles of the slicer, mails that were written to the data folder, tables that were exported" }
            }
        }
    }
}

fn restore(of_file: bool) -> Markup {
    html! {
        section class="card" aria-labelledby="restore" {
            h2 id="restore" { "How to restore it" }
            ol {
                li { "Stop the server: " code { "systemctl stop printfloor" } }
                li {
                    "Put " code { ".env" } " and " code { "printfloor.toml" }
                    " back where they were: the next step writes to the places that they name."
                }
                li {
                    "Put the backup into an empty data folder"
                    @if !of_file { " and an empty database, which " code { "DATABASE_URL" } " names" }
                    ": " code { "printfloor restore --data NEW_FOLDER printfloor-backup-DATE.tar" }
                }
                li { "Put " code { "secrets.env" } " back into that folder." }
                li { "Start the server on that folder: " code { "printfloor serve --data NEW_FOLDER" } }
                li { "Review the " a href=(super::restore::PATH) { "restore" } ": until then no job is started." }
            }
            p { "Try it once on another machine: a backup that nobody has restored is a hope." }
        }
    }
}
