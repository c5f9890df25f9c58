//! Reading printers: the list, one printer, and its status. The JSON of a printer is written once for each of its
//! states, as long as nothing else that it shows has changed.

use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use serde_json::Value;

use super::newest_first;
use super::view::{PrinterView, StatusView, current_activity};
use super::view_inputs::{InputSources, ViewInputs, WrittenInputs};
use config::Config;
use domain::aggregate::Versioned;
use domain::material::Material;
use domain::printer::{Attention, Printer};
use domain::printer_status::Activity;
use domain::refusal::Faults;
use domain::sku::MachineType;
use http::command_request::{find_existing, present_state};
use http::error::ApiError;
use http::handles::handles;
use http::openapi::shape::{Shape, word};
use http::openapi::words::words_of;
use http::page::{PageQuery, Query, cut};
use http::path_id::PathId;
use http::reply::{ListPage, Plain, Resource};
use http::wire::{FromJson, ToSchema, ValuePath, read_word};
use http::written_answers::{WrittenAnswer, WrittenAnswers};
use kernel::directory::Directory;
use printers::connections::PrinterConnections;

handles! {
    /// Dependencies of reading printers.
    pub struct PrinterReadHandles {
        printers: Directory<Printer>,
        materials: Directory<Material>,
        printer_connections: Arc<PrinterConnections>,
        config: Arc<Config>,
        // All who may read a printer see the same.
        answers: Arc<WrittenAnswers<Printer, (), WrittenInputs>>,
    }
}

/// Filter for printers that need an operator's attention.
#[derive(Clone, Copy, Debug)]
enum AttentionFilter {
    /// Printers that need attention for any reason: `true` in the query.
    Any,
    /// Printers that need attention for the given reason.
    One(Attention),
}

impl AttentionFilter {
    fn takes(self, printer: &Printer) -> bool {
        match self {
            Self::Any => !printer.attention().is_empty(),
            Self::One(attention) => printer.attention().contains(&attention),
        }
    }
}

impl ToSchema for AttentionFilter {
    const NAME: Option<&'static str> = Some("AttentionFilter");
    fn schema() -> Shape {
        word(words_of::<Attention>().into_iter().chain(["true"]))
            .about("Only printers that need attention for this reason or, with `true`, for any reason.")
    }
}

impl FromJson for AttentionFilter {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        if value == "true" { Some(Self::Any) } else { read_word(&value, place, faults).map(Self::One) }
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
}

/// Query parameters for listing printers.
#[derive(Request, Debug)]
pub struct PrinterQuery {
    /// Return only printers of the given type.
    #[api(name = "type")]
    kind: Option<String>,
    /// Return only printers with the given machine type.
    machine_type: Option<MachineType>,
    /// Return only printers in the given state.
    state: Option<Activity>,
    /// Return only printers with the given tag.
    tag: Option<String>,
    /// Return only printers that need attention for the given reason or, with `true`, for any reason.
    attention: Option<AttentionFilter>,
    /// Return only printers whose name contains the given text. Case is ignored.
    q: Option<String>,
    #[api(flatten)]
    page: PageQuery,
}

/// Returns the JSON of a printer in the given state.
fn written(
    app: &PrinterReadHandles,
    state: &Arc<Versioned<Printer>>,
    printer: &Printer,
) -> Result<WrittenAnswer<PrinterView>, ApiError> {
    let sources = InputSources::from(app);
    let build = || {
        let inputs = ViewInputs::read(&sources, printer);
        let view = PrinterView::new(printer, state.revision(), &inputs);
        (WrittenInputs::from(inputs), view)
    };
    let is_current = |inputs: &WrittenInputs| inputs.are_current(&sources, printer);
    app.answers.get_with((printer.id, ()), state, is_current, build)
}

/// Responds with the printers that match the query.
pub(super) async fn list(
    State(app): State<PrinterReadHandles>,
    Query(query): Query<PrinterQuery>,
) -> Result<ListPage<PrinterView>, ApiError> {
    let PrinterQuery { kind, machine_type, state, tag, attention, q, page } = query;
    let (page, q) = (page.into(), q.map(|q| q.to_lowercase()));
    let is_match = |printer: &Printer| {
        let fields = &printer.fields;
        kind.as_ref().is_none_or(|kind| fields.kind == *kind)
            && machine_type.is_none_or(|requested| fields.machine_type == requested)
            && tag.as_ref().is_none_or(|tag| fields.tags.contains(tag))
            && q.as_ref().is_none_or(|q| fields.name.to_lowercase().contains(q))
            && state.is_none_or(|requested| current_activity(&app.printer_connections, printer) == requested)
            && attention.is_none_or(|requested| requested.takes(printer))
    };
    let mut matching = newest_first(&app.printers);
    matching.retain(|versioned| versioned.state.as_ref().is_some_and(&is_match));
    // Only what is shown is made.
    let (some, total) = cut(page, matching);
    let item = |state: &Arc<Versioned<Printer>>| Some(written(&app, state, state.state.as_ref()?));
    let items = some.iter().filter_map(item).collect::<Result<_, ApiError>>()?;
    Ok(ListPage::written(page, items, total))
}

/// Responds with a printer.
pub(super) async fn one(
    State(app): State<PrinterReadHandles>,
    PathId(id): PathId,
) -> Result<Resource<PrinterView>, ApiError> {
    let (version, state) = find_existing(&app.printers, id).await?;
    let answer = written(&app, &state, present_state(&state)?)?;
    Ok(Resource::written(version, answer))
}

/// Responds with the status of a printer.
pub(super) async fn status(
    State(app): State<PrinterReadHandles>,
    PathId(id): PathId,
) -> Result<Plain<StatusView>, ApiError> {
    let (_, state) = find_existing(&app.printers, id).await?;
    let printer = present_state(&state)?;
    Ok(Plain(StatusView::new(printer, app.printer_connections.reading(id))))
}
