//! List of files, which begins with those to print from, and the upload form, which is on the list of products as well.
//! Without the script, the browser submits the form itself; with it, files are uploaded as soon as they are chosen or
//! dropped on the page, which shows the progress.

use api_derive::Request;
use axum::extract::{self, State};
use axum::response::Response;
use maud::{Markup, html};

use super::file::{PRINT_ID, file_path, kind_words, picture_path, size_words, weight_words};
use super::from_file::SELL_ID;
use super::{ProductHandles, tabs};
use crate::design::{Icon, icon};
use crate::form::{Form, check_token};
use crate::frame::{SLOT, see_other, time as time_of, with_parts};
use crate::staff::filled_form::address;
use crate::staff::sheet::{ListFilter, ListPart, list_filters, non_empty, span};
use crate::staff::shell::{SCRIPT_SLOTS, StaffSection, StaffViewer, with_token};
use crate::staff::swatch::swatch;
use domain::file::{File, FileKind, FileMetadata};
use domain::material::shown_color;
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use http_api::production::files;
use store::queries::{FileCounts, FileFilter, FileGroup};
use words::Language;
use words::staff::products as texts;

/// Path of the file list.
pub(super) const PATH: &str = "/shop/products/files";
/// File name extensions offered by the browser's file dialog.
const ACCEPTED_NAMES: &str = ".gcode,.gco,.g,.bgcode,.3mf,.stl,.step,.png,.jpg,.jpeg,.webp,.heic";
/// Maximum number of a file's plastics that are named in the list.
const FILAMENTS_NAMED: usize = 2;

/// Subset of the file list. Pictures that cameras take of each finished print would bury the files to print from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FileSubset {
    PrintFiles,
    Models,
    CameraPictures,
    UploadedPictures,
    All,
}

impl FileSubset {
    /// Subsets in the order in which their links are shown.
    const EACH: [Self; 5] = [Self::PrintFiles, Self::Models, Self::CameraPictures, Self::UploadedPictures, Self::All];

    /// Returns the subset's name in the URL; empty for the subset shown first.
    fn word(self) -> &'static str {
        match self {
            Self::PrintFiles => "",
            Self::Models => "model",
            Self::CameraPictures => "camera",
            Self::UploadedPictures => "image",
            Self::All => "all",
        }
    }

    fn label(self, language: Language) -> String {
        match self {
            Self::PrintFiles => texts::print_files(language),
            Self::Models => texts::models_filter(language),
            Self::CameraPictures => texts::camera_pictures_filter(language),
            Self::UploadedPictures => texts::uploaded_pictures_filter(language),
            Self::All => texts::all_filter(language),
        }
    }

    fn count(self, counts: &FileCounts) -> u64 {
        match self {
            Self::PrintFiles => counts.gcode + counts.models,
            Self::Models => counts.models,
            Self::CameraPictures => counts.camera_pictures,
            Self::UploadedPictures => counts.uploaded_pictures,
            Self::All => counts.total(),
        }
    }

    /// Returns the filter for the subset's files whose names contain the given text.
    fn filter(self, q: Option<String>) -> FileFilter {
        let (kind, group) = match self {
            Self::PrintFiles => (None, Some(FileGroup::PrintFiles)),
            Self::Models => (Some(FileKind::Model), None),
            Self::CameraPictures => (None, Some(FileGroup::CameraPictures)),
            Self::UploadedPictures => (None, Some(FileGroup::UploadedPictures)),
            Self::All => (None, None),
        };
        FileFilter { kind, group, q, ..FileFilter::default() }
    }
}

/// Query parameters for the file list and the upload. Unknown values are ignored.
#[derive(Request, Debug)]
pub(super) struct FileListQuery {
    /// Part of the name.
    q: Option<String>,
    /// Name of the subset to show.
    kind: Option<String>,
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
    /// CSRF token for an upload. It is in the query because the body is streamed: a token in the body would be read too
    /// late.
    token: Option<String>,
}

impl FileListQuery {
    fn subset(&self) -> FileSubset {
        let word = self.kind.as_deref().unwrap_or_default();
        FileSubset::EACH.into_iter().find(|subset| subset.word() == word).unwrap_or(FileSubset::PrintFiles)
    }

    fn filter(&self) -> FileFilter {
        self.subset().filter(non_empty(self.q.as_ref()).map(str::to_owned))
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
    let part = ListPart { path: PATH, narrowed, from: query.from };
    let (results, total) = app.files.queries.files(&query.filter(), part.page()).await?;
    // Files that match a text are not counted by subset, because that would search all of them.
    let counts = match non_empty(query.q.as_ref()) {
        Some(_) => None,
        None => Some(app.files.queries.file_counts().await?),
    };
    let files: Vec<&File> = results.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let title = texts::files_tab(language);
    let content = html! {
        div class="head" {
            h1 { (title) }
            span class="push" {}
            (upload_form(language, "btn primary"))
        }
        (tabs(language, PATH))
        (entry.alert())
        (subsets(language, query, counts.as_ref()))
        (tools(language, query))
        @if counts.is_some_and(|counts| counts.total() == 0) {
            (nothing(language))
        } @else if files.is_empty() {
            @let all = address(PATH, &[("kind", FileSubset::All.word())]);
            p { (texts::no_file_match(language)) " " a href=(all) { (texts::show_all(language)) } }
        } @else {
            (table(language, &files))
        }
        p class="soft" { (texts::files_total(language, total)) }
        (part.turns(language, total))
        (drop_hint(language))
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

/// Renders the upload form, which is a button if the script runs; files may then be dropped anywhere on its page, as
/// [`drop_hint`] says. Further files wait until the current one has been sent. `class` is the button's class. The
/// form's CSRF token is part of the URL.
pub(super) fn upload_form(language: Language, class: &str) -> Markup {
    let [number, total] = SCRIPT_SLOTS;
    html! {
        form class="upload" method="post" enctype="multipart/form-data" action=(with_token(PATH)) data-list=(PATH)
            data-sends=(texts::sending(language)) data-sent=(texts::sent(language))
            data-stored=(texts::files_uploaded(language, number, total))
            data-failed=(texts::upload_failed(language)) data-broken=(texts::upload_broken(language)) {
            details {
                summary class="btn" { (texts::set_file_type(language)) }
                div class="field" {
                    input id="kind-gcode" name="kind" type="radio" value="gcode";
                    " " label for="kind-gcode" class="inline" { (texts::gcode(language)) }
                }
                div class="field" {
                    input id="kind-model" name="kind" type="radio" value="model";
                    " " label for="kind-model" class="inline" { (texts::model(language)) }
                }
            }
            label for="file" class=(class) title=(texts::upload_kinds(language)) {
                (icon(Icon::Upload)) (texts::upload_files(language))
            }
            input id="file" name="file" type="file" accept=(ACCEPTED_NAMES) required;
            button class="second" type="submit" { (texts::upload(language)) }
            progress max="100" value="0" aria-label=(texts::upload(language)) hidden {}
            p role="status" {}
        }
    }
}

/// Renders the hint below a list that files may be dropped on its page, where that is possible.
pub(super) fn drop_hint(language: Language) -> Markup {
    html! { p class="hint drop-hint" { (texts::drop_hint(language)) } }
}

/// Renders the links to subsets of the list, with the number of files in each, if it is known. Uploaded pictures have a
/// link only if there are any, because few shops keep them here.
fn subsets(language: Language, query: &FileListQuery, counts: Option<&FileCounts>) -> Markup {
    let (chosen, q) = (query.subset(), query.q.as_deref().unwrap_or_default());
    let labels = FileSubset::EACH.map(|subset| (subset, subset.label(language)));
    let filters = labels.iter().filter_map(|(subset, label)| {
        let count = counts.map(|counts| subset.count(counts) as usize);
        let is_current = *subset == chosen;
        let is_listed = *subset != FileSubset::UploadedPictures || is_current || count != Some(0);
        let path = address(PATH, &[("q", q), ("kind", subset.word())]);
        is_listed.then_some(ListFilter { label, path, count, is_current })
    });
    list_filters(&texts::filters(language), &filters.collect::<Vec<_>>())
}

fn tools(language: Language, query: &FileListQuery) -> Markup {
    html! {
        form class="tools" method="get" action=(PATH) role="search" {
            div class="field" {
                label for="q" { (texts::file_name_field(language)) }
                input id="q" name="q" type="search" maxlength="200" value=[query.q.as_deref()];
            }
            @if let Some(word) = non_empty(query.kind.as_ref()) { input type="hidden" name="kind" value=(word); }
            button class="second" type="submit" { (texts::search(language)) }
        }
    }
}

fn table(language: Language, files: &[&File]) -> Markup {
    html! {
        div class="table list" tabindex="0" role="region" aria-label=(texts::files_tab(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::picture_column(language)) }
                        th scope="col" { (texts::file_column(language)) }
                        th scope="col" { (texts::file_material_column(language)) }
                        th scope="col" class="number" { (texts::time_column(language)) }
                        th scope="col" class="number" { (texts::weight(language)) }
                        th scope="col" { (texts::uploaded(language)) }
                        th scope="col" { span class="hidden-words" { (texts::actions(language)) } }
                    }
                }
                tbody { @for file in files { (row(language, file)) } }
            }
        }
    }
}

fn row(language: Language, file: &File) -> Markup {
    let metadata = &file.metadata;
    html! {
        tr {
            td { @if let Some(picture) = picture_path(file) { img class="mini" src=(picture) alt="" width="64" height="64" loading="lazy"; } }
            th scope="row" {
                a class="ellipsis" title=(file.name) href=(file_path(file.id)) { (file.name) }
                span class="below" {
                    (kind_words(language, file.kind))
                    @if metadata.plates.len() > 1 { ", " (texts::plate_count(language, metadata.plates.len())) }
                    ", " (size_words(language, file.size))
                }
            }
            td { (filaments(metadata)) }
            td class="number start" { @if let Some(seconds) = metadata.seconds { (span(language, seconds)) } }
            td class="number start" { @if let Some(grams) = metadata.grams { (weight_words(language, grams)) } }
            td class="spare" { (time_of(language, file.created_at)) }
            td class="row-acts" { @if file.kind == FileKind::Gcode { (acts(language, file)) } }
        }
    }
}

/// Renders the plastics for which a file is sliced, each with its colour, and the number of those beyond the first.
fn filaments(metadata: &FileMetadata) -> Markup {
    let mut kinds: Vec<(&str, Option<&str>)> = Vec::new();
    for filament in metadata.plates.iter().flat_map(|plate| &plate.filaments) {
        let one = (filament.kind.as_deref().unwrap_or_default(), filament.color.as_deref());
        if one != ("", None) && !kinds.contains(&one) {
            kinds.push(one);
        }
    }
    let more = kinds.len().saturating_sub(FILAMENTS_NAMED);
    html! {
        @for (n, (kind, color)) in kinds.iter().take(FILAMENTS_NAMED).enumerate() {
            @if n > 0 { ", " }
            @if let Some(color) = shown_color(*color, kind) { (swatch(Some(color))) " " }
            (kind)
        }
        @if more > 0 { " +" (more) }
    }
}

/// Renders what can be done with G-code: a print now, on a printer chosen in the next step, or a product printed from
/// it. Customer files cannot be made into products.
fn acts(language: Language, file: &File) -> Markup {
    let path = file_path(file.id);
    let of_file = html! { span class="hidden-words" { " " (file.name) } };
    html! {
        a class="btn" href={ (path) "#" (PRINT_ID) } { (texts::print_act(language)) (of_file) }
        @if file.customer_upload.is_none() {
            a class="btn quiet hide-s" href={ (path) "#" (SELL_ID) } { (texts::create_sku(language)) (of_file) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::file::{Plate, PlateFilament};

    #[test]
    fn filaments_are_named_once_and_in_their_colours() {
        let filament = |kind: &str, color: Option<&str>| PlateFilament {
            kind: Some(kind.to_owned()),
            color: color.map(str::to_owned),
            ..PlateFilament::default()
        };
        let orange = filament("PLA", Some("#f57c1f"));
        let filaments_of = |of_plate: Vec<PlateFilament>| {
            let plate = Plate { filaments: of_plate, ..Plate::default() };
            filaments(&FileMetadata { plates: vec![plate.clone(), plate], ..FileMetadata::default() }).into_string()
        };
        let one = filaments_of(vec![orange.clone(), orange.clone()]);
        assert_eq!((one.matches("PLA").count(), one.matches("#f57c1f").count()), (1, 1), "{one}");
        let many = filaments_of(vec![orange, filament("PETG", None), filament("TPU", None)]);
        assert!(many.ends_with("PETG +1") && !many.contains("TPU"), "{many}");
        assert_eq!(filaments_of(Vec::new()), "");
    }
}
