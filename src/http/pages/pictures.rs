//! Pictures of items that customers ordered, were offered, or uploaded: the file's thumbnail or, failing that, a
//! drawing of its toolpath or a placeholder. Each is served only to the customer whose order, quote or model it belongs
//! to.

use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};

use super::paths::{MODELS, ORDERS, QUOTES};
use crate::design::{Icon, icon};
use domain::id::Id;
use domain::order::Order;
use domain::quote::{Quote, QuoteModel};
use domain::refusal::Refusal;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::handles::handles;
use http::path_id::PathId;
use http_api::billing::orders::{OwnOrderHandles, own as own_order};
use http_api::billing::quotes::{OwnQuoteHandles, first_model, own as own_quote};
use http_api::production::files::{FileHandles, WHOLE_PICTURE, picture};

/// Placeholder for a file without a picture: a part on a build plate.
const PLACEHOLDER: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 64 64\" fill=\"none\" stroke=\"#7f8b9c\" \
    stroke-width=\"3\" stroke-linejoin=\"round\"><path d=\"M32 8 52 19v22L32 52 12 41V19zM12 19l20 11 20-11M32 30v22M4 58h56\"/></svg>";
/// Error code returned while too many pictures are being drawn.
const OVERLOADED: &str = "overloaded";

handles! {
    /// Dependencies of the picture routes for customers.
    pub(crate) struct PictureHandles {
        orders: OwnOrderHandles,
        quotes: OwnQuoteHandles,
        files: FileHandles,
    }
}

/// Index of a line, from the `{number}` path segment. A value that is not a number results in a 404.
pub(super) struct LineIndex(usize);

impl<S: Send + Sync> FromRequestParts<S> for LineIndex {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let text = params.iter().flatten().find(|(name, _)| *name == "number").map(|(_, text)| text.to_owned());
        text.and_then(|text| text.parse().ok()).map(Self).ok_or_else(no_picture)
    }
}

fn no_picture() -> ApiError {
    Refusal::not_found("picture").into()
}

/// Returns the file from which a line's parts are printed: the line's own file or, failing that, the file of one of its
/// jobs, which may have been sliced for the order. For a kit, returns the file of its first part.
fn file_of_line(order: &Order, index: usize) -> Option<Id> {
    let line = order.lines.get(index)?;
    let of_line = |n: usize| {
        let make = order.lines.get(n).and_then(|line| line.make.as_ref());
        let of_jobs = || order.jobs.values().filter(|job| job.line as usize == n).find_map(|job| job.file_id);
        make.and_then(|make| make.file_id).or_else(of_jobs)
    };
    if line.is_kit() {
        let is_part = |n: &usize| {
            let kit = order.lines.get(*n).and_then(|line| line.kit_line);
            kit.is_some_and(|kit| kit as usize == index)
        };
        return (0..order.lines.len()).filter(is_part).find_map(of_line);
    }
    of_line(index)
}

/// Returns the file that shows a model: its G-code if it has been sliced, otherwise the model itself.
fn file_of_model(model: &QuoteModel) -> Id {
    model.sliced.as_ref().map_or(model.file_id, |sliced| sliced.gcode_file_id)
}

/// Renders a frame with a picture or, if there is none, an icon.
fn frame(class: &str, path: Option<String>) -> Markup {
    html! {
        span class=(class) {
            @if let Some(path) = path { img src=(path) alt="" loading="lazy" width="96" height="96"; }
            @else { (icon(Icon::Box)) }
        }
    }
}

/// Renders the picture of an order line.
pub(super) fn order_line(order: &Order, index: usize) -> Markup {
    let path = || format!("{}/{}/pictures/{index}", ORDERS, order.id);
    frame("thumb", file_of_line(order, index).map(|_| path()))
}

/// Renders the picture for an order: the picture of the first line that has one.
pub(super) fn order(class: &str, order: &Order) -> Markup {
    let index = (0..order.lines.len()).find(|n| file_of_line(order, *n).is_some());
    frame(class, index.map(|n| format!("{}/{}/pictures/{n}", ORDERS, order.id)))
}

/// Renders the picture of a quote line.
pub(super) fn quote_line(quote: &Quote, index: usize) -> Markup {
    let model = quote.lines.get(index).and_then(|line| line.model.as_ref());
    frame("thumb", model.map(|_| format!("{}/{}/pictures/{index}", QUOTES, quote.id)))
}

/// Renders the picture for a quote: the picture of its first line with a model.
pub(super) fn quote(class: &str, quote: &Quote) -> Markup {
    let index = quote.lines.iter().position(|line| line.model.is_some());
    frame(class, index.map(|n| format!("{}/{}/pictures/{n}", QUOTES, quote.id)))
}

/// Renders the picture of an uploaded model.
pub(super) fn model(class: &str, id: Id) -> Markup {
    frame(class, Some(format!("{MODELS}/{id}/picture")))
}

/// Serves the picture for a line of the customer's own order.
pub(super) async fn of_order(
    State(app): State<PictureHandles>,
    PathId(id): PathId,
    LineIndex(index): LineIndex,
    who: Caller,
) -> Result<Response, ApiError> {
    let state = own_order(&app.orders.orders, &who, id).await?;
    let file = file_of_line(state_of(&state)?, index).ok_or_else(no_picture)?;
    serve(&app.files, file).await
}

/// Serves the picture for a line of the customer's own quote.
pub(super) async fn of_quote(
    State(app): State<PictureHandles>,
    PathId(id): PathId,
    LineIndex(index): LineIndex,
    who: Caller,
) -> Result<Response, ApiError> {
    let quote = own_quote(&app.quotes, &who, id).await?;
    let model = quote.lines.get(index).and_then(|line| line.model.as_ref()).ok_or_else(no_picture)?;
    serve(&app.files, file_of_model(model)).await
}

/// Serves the picture of a model that the customer uploaded.
pub(super) async fn of_model(
    State(app): State<PictureHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let (_, email) = who.customer()?;
    let quote = app.quotes.quotes.queries.quote_of_model(id).await?.filter(|quote| quote.is_for(email));
    let quote = quote.ok_or_else(no_picture)?;
    let (_, model) = first_model(&quote).ok_or_else(no_picture)?;
    serve(&app.files, file_of_model(model)).await
}

async fn serve(app: &FileHandles, id: Id) -> Result<Response, ApiError> {
    let (_, state) = find_existing(&app.files, id).await?;
    let file = state_of(&state)?;
    let of_plate = || file.metadata.plates.iter().find(|plate| plate.thumbnail.is_some()).map(|plate| plate.plate);
    let number = if file.metadata.thumbnail.is_some() { None } else { of_plate() };
    match picture(app, file, number.unwrap_or(WHOLE_PICTURE)).await {
        Err(error) if error.status() == StatusCode::NOT_FOUND || error.code() == OVERLOADED => Ok(placeholder()),
        reply => reply,
    }
}

fn placeholder() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        (header::CACHE_CONTROL, "private, max-age=60"),
    ];
    (headers, PLACEHOLDER).into_response()
}
