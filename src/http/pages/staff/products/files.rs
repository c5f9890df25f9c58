//! List of files, and the upload form, which is on the list of products as well. Without the script, the browser
//! submits the form itself; with it, a file is uploaded as soon as it is chosen, and the page shows the progress.

use api_derive::Request;
use axum::extract::{self, State};
use axum::response::Response;
use maud::{Markup, html};

use super::file::{file_path, kind_words, picture_path, size_words};
use super::{ProductHandles, tabs};
use crate::form::check_token;
use crate::frame::{SLOT, see_other, time as time_of, with_parts};
use crate::staff::form::Form;
use crate::staff::sheet::{ListPart, non_empty, span};
use crate::staff::shell::{StaffSection, StaffViewer, with_token};
use domain::file::{File, FileKind};
use domain::notation;
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use http_api::production::files;
use store::queries::FileFilter;
use words::Language;
use words::staff::products as texts;

/// Path of the file list.
pub(super) const PATH: &str = "/shop/products/files";
/// File name extensions offered by the browser's file dialog.
const ACCEPTED_NAMES: &str = ".gcode,.gco,.g,.bgcode,.3mf,.stl,.step,.png,.jpg,.jpeg,.webp,.heic";
/// File kinds by which the list can be filtered, as spelled in the API.
const FILE_KINDS: [(&str, FileKind); 3] =
    [("gcode", FileKind::Gcode), ("model", FileKind::Model), ("image", FileKind::Image)];

/// Query parameters for the file list and the upload. Unknown values are ignored.
#[derive(Request, Debug)]
pub(super) struct FileListQuery {
    /// Part of the name.
    q: Option<String>,
    /// Only files of the given kind.
    kind: Option<String>,
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
    /// CSRF token for an upload. It is in the query because the body is streamed: a token in the body would be read too
    /// late.
    token: Option<String>,
}

impl FileListQuery {
    fn kind(&self) -> Option<FileKind> {
        FILE_KINDS.into_iter().find(|(word, _)| Some(*word) == self.kind.as_deref()).map(|(_, kind)| kind)
    }

    fn filter(&self) -> FileFilter {
        FileFilter { kind: self.kind(), q: non_empty(self.q.as_ref()).map(str::to_owned), ..FileFilter::default() }
    }
}

/// Serves the file list.
pub(super) async fn list(
    State(app): State<ProductHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<FileListQuery>,
) -> Result<Response, ApiError> {
    page(&app, &who, &query, Form::default()).await
}

/// Stores an uploaded file and redirects to its page.
pub(super) async fn upload(
    State(app): State<ProductHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<FileListQuery>,
    request: extract::Request,
) -> Result<Response, ApiError> {
    let session = who.session.ok_or_else(|| ApiError::internal("a member of staff without a session"))?;
    check_token(&app.config, session, query.token.as_deref().unwrap_or_default())?;
    match files::add(&app.files, who.clone(), request).await {
        Ok(outcome) => Ok(see_other(&file_path(outcome.id))),
        Err(error) => {
            let mut entry = Form::empty(who.language);
            entry.refuse(error);
            page(&app, &who, &query, entry).await
        }
    }
}

async fn page(app: &ProductHandles, who: &Caller, query: &FileListQuery, entry: Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.config)?;
    let language = viewer.language();
    let narrowed = vec![("q", non_empty(query.q.as_ref())), ("kind", non_empty(query.kind.as_ref()))];
    let is_narrowed = narrowed.iter().any(|(_, value)| value.is_some());
    let part = ListPart { path: PATH, narrowed, from: query.from };
    let (results, total) = app.files.queries.files(&query.filter(), part.page()).await?;
    let files: Vec<&File> = results.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let title = texts::files_tab(language);
    let content = html! {
        h1 { (title) }
        (tabs(language, PATH))
        (entry.alert())
        (upload_form(language))
        (tools(language, query))
        @if files.is_empty() && !is_narrowed && query.from == 0 {
            (nothing(language))
        } @else if files.is_empty() {
            p { (texts::no_file_match(language)) " " a href=(PATH) { (texts::show_all(language)) } }
        } @else {
            (table(language, &files))
        }
        (part.links(language, total))
    };
    let response = viewer.page(StaffSection::Products, &title, &app.board.view(), &content);
    Ok(entry.answer(response))
}

/// Renders the message for a shop without files.
fn nothing(language: Language) -> Markup {
    let link = html! { a href="/docs/" { (texts::api_documentation(language)) } };
    html! {
        section class="card" aria-labelledby="begin" {
            h2 id="begin" { (texts::no_files_heading(language)) }
            p { (texts::no_files_text(language)) }
            p { (with_parts(&texts::no_files_slicer(language, SLOT), &[&link])) }
        }
    }
}

/// Renders the upload form, with the texts of its script. Its CSRF token is part of the URL.
pub(super) fn upload_form(language: Language) -> Markup {
    html! {
        form class="card" method="post" enctype="multipart/form-data" action=(with_token(PATH))
            data-sends=(texts::sending(language)) data-sent=(texts::sent(language))
            data-failed=(texts::upload_failed(language)) data-broken=(texts::upload_broken(language)) {
            div class="field" {
                label for="file" { (texts::upload_field(language)) }
                input id="file" name="file" type="file" accept=(ACCEPTED_NAMES) required;
                p class="hint" data-scripted="" hidden { (texts::upload_hint(language)) }
            }
            details {
                summary { (texts::set_file_type(language)) }
                div class="field" {
                    input id="kind-gcode" name="kind" type="radio" value="gcode";
                    " " label for="kind-gcode" class="inline" { (texts::gcode(language)) }
                }
                div class="field" {
                    input id="kind-model" name="kind" type="radio" value="model";
                    " " label for="kind-model" class="inline" { (texts::model(language)) }
                }
            }
            progress max="100" value="0" aria-label=(texts::upload(language)) hidden {}
            p role="status" {}
            button type="submit" { (texts::upload(language)) }
        }
    }
}

fn tools(language: Language, query: &FileListQuery) -> Markup {
    let chosen = query.kind();
    html! {
        form class="tools" method="get" action=(PATH) role="search" {
            div class="field" {
                label for="q" { (texts::file_name_field(language)) }
                input id="q" name="q" type="search" maxlength="200" value=[query.q.as_deref()];
            }
            div class="field" {
                label for="kind" { (texts::file_type(language)) }
                select id="kind" name="kind" {
                    option value="" { (texts::all_filter(language)) }
                    @for (word, kind) in FILE_KINDS {
                        option value=(word) selected[chosen == Some(kind)] { (kind_words(language, kind)) }
                    }
                }
            }
            button class="second" type="submit" { (texts::show(language)) }
        }
    }
}

fn table(language: Language, files: &[&File]) -> Markup {
    let (time, weight) = (texts::time_column(language), texts::weight(language));
    let (size, uploaded) = (texts::size(language), texts::uploaded(language));
    html! {
        div class="table list" tabindex="0" role="region" aria-label=(texts::files_tab(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::picture_column(language)) }
                        th scope="col" { (texts::file_column(language)) }
                        th scope="col" { (texts::file_type(language)) }
                        th scope="col" { (time) } th scope="col" { (weight) } th scope="col" class="number" { (size) }
                        th scope="col" { (uploaded) }
                    }
                }
                tbody {
                    @for file in files {
                        @let metadata = &file.metadata;
                        tr {
                            td { @if let Some(picture) = picture_path(file) { img class="mini" src=(picture) alt="" width="64" height="64" loading="lazy"; } }
                            th scope="row" { a class="ellipsis" title=(file.name) href=(file_path(file.id)) { (file.name) } }
                            td {
                                (kind_words(language, file.kind))
                                @if metadata.plates.len() > 1 { ", " (texts::plate_count(language, metadata.plates.len())) }
                            }
                            td data-label=(time) { @if let Some(seconds) = metadata.seconds { (span(language, seconds)) } }
                            td data-label=(weight) {
                                @if let Some(grams) = metadata.grams { (notation::decimal(language, grams)) " g" }
                            }
                            td class="number spare" data-label=(size) { (size_words(language, file.size)) }
                            td class="spare" data-label=(uploaded) { (time_of(language, file.created_at)) }
                        }
                    }
                }
            }
        }
    }
}
