//! Actions on SKUs and kits (add, change, withdraw, delete), each performed by the API operation.

use std::collections::HashMap;

use api_derive::Request;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::IF_MATCH;
use axum::response::Response;
use maud::html;

use super::from_file::{CUSTOMER_FIELD, FileSuggestions, ORDER_FIELD};
use super::sku_form::{
    COMPONENT_MEMBERS, FREE_COMPONENT_ROWS, MATERIAL_MEMBERS, MAX_COMPONENT_ROWS, SkuChoices, body_of, common_fields,
    entry_of, kit_fields, made_fields, new_entry,
};
use super::{ProductHandles, code_list, sku, sku_path, with_sku_ids};
use crate::form::{Form, FormBody, PageForm};
use crate::frame::see_other;
use crate::staff::filled_form::address;
use crate::staff::shell::{StaffSection, StaffViewer, hidden, hidden_once};
use crate::staff::{ORDERS_PATH, PRODUCTS_PATH};
use domain::id::Id;
use domain::sku::{Sku, SkuFields};
use http::access::Caller;
use http::command_request::{find_existing, present_state};
use http::error::ApiError;
use http::page::OpenQuery;
use http::path_id::PathId;
use http::wire::{FieldTexts, TICKED_WORD};
use http_api::production::place::place_order;
use http_api::production::skus;
use store::queries::SkuFilter;
use words::staff::products as texts;

/// Form field that marks a new SKU as a kit.
const KIT_FIELD: &str = "kit";
/// Form field that contains the version of the SKU for which the form was rendered.
const VERSION_FIELD: &str = "version";

/// Query parameters with which the form for a new SKU is filled in.
#[derive(Request, Debug)]
pub(super) struct NewSkuQuery {
    /// Any value means that the new SKU is a kit.
    kit: Option<String>,
    /// File from which the new SKU is printed.
    file: Option<String>,
}

/// Subject of a SKU form: a new or an existing SKU.
#[derive(Clone, Copy)]
enum FormSubject<'a> {
    NewSku,
    NewKit,
    /// Existing SKU, with its version.
    Known(&'a Sku, i64),
}

impl FormSubject<'_> {
    fn is_kit(&self) -> bool {
        match self {
            Self::NewSku => false,
            Self::NewKit => true,
            Self::Known(sku, _) => sku.fields.is_kit(),
        }
    }

    /// Returns whether the form shows the components. If a kit has too many components for a form, they are not shown
    /// and remain unchanged.
    fn shows_components(&self) -> bool {
        match self {
            Self::Known(sku, _) => sku.fields.is_kit() && sku.fields.components.len() <= MAX_COMPONENT_ROWS,
            new => new.is_kit(),
        }
    }
}

/// Serves the form for a new SKU.
pub(super) async fn begin(
    State(app): State<ProductHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<NewSkuQuery>,
) -> Result<Response, ApiError> {
    let file = match query.file.as_deref().and_then(|id| id.parse::<Id>().ok()) {
        Some(id) => app.files.files.read(id).await?,
        None => None,
    };
    let file = file.as_ref().and_then(|state| state.present());
    let suggestions = file.map(|file| FileSuggestions::new(&app, file)).unwrap_or_default();
    let form = new_entry(who.language, &app.config.orders.currency, file, suggestions);
    let subject = if query.kit.is_some() { FormSubject::NewKit } else { FormSubject::NewSku };
    form_page(&app, &who, form, subject).await
}

/// Adds a SKU, or serves the form again with its errors. If the form asks for it, one part is ordered as well.
pub(super) async fn add(State(app): State<ProductHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let mut form = Form::submitted(&sent);
    let subject = if form.ticked(KIT_FIELD) { FormSubject::NewKit } else { FormSubject::NewSku };
    let added = async { skus::add(&app.skus, &sent.request_of(body(&app, &mut form, subject).await?)).await };
    let added = added.await;
    match added {
        Ok(outcome) if form.ticked(ORDER_FIELD) => {
            Ok(order_one(&app, outcome.id, form.text(CUSTOMER_FIELD), &sent).await)
        }
        Ok(outcome) => Ok(see_other(&sku_path(outcome.id))),
        Err(error) => {
            form.refuse(error);
            form_page(&app, &sent.call.who, form, subject).await
        }
    }
}

/// Orders one part of a SKU that was just added, and redirects to the order. If the order is rejected, redirects to the
/// form for a new order, which is filled in.
async fn order_one(app: &ProductHandles, sku: Id, email: &str, sent: &PageForm) -> Response {
    let fields = [("lines.0.skuId", sku.to_string()), ("lines.0.quantity", "1".to_owned())];
    let fields = fields.into_iter().chain([("customerEmail", email.to_owned())]);
    let texts: FieldTexts = fields.map(|(name, text)| (name.to_owned(), text)).collect();
    match place_order(&app.orders, None, &sent.request_of(FormBody::new(texts))).await {
        Ok(order) => see_other(&format!("{ORDERS_PATH}/{}", order.id)),
        // The product exists: the form says what is wrong with the order once it is sent.
        Err(_) => {
            let form_path = format!("{ORDERS_PATH}/new");
            see_other(&address(&form_path, &[("sku", &sku.to_string()), ("customer", email)]))
        }
    }
}

/// Serves the form for changing a SKU.
pub(super) async fn edit(
    State(app): State<ProductHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let (version, state) = find_existing(&app.skus.skus, id).await?;
    let sku = present_state(&state)?;
    let form = entry_of(who.language, &sku.fields, &codes(&app, &sku.fields).await?);
    form_page(&app, &who, form, FormSubject::Known(sku, version)).await
}

/// Changes a SKU, or serves the form again with its errors.
pub(super) async fn change(
    State(app): State<ProductHandles>,
    PathId(id): PathId,
    mut sent: PageForm,
) -> Result<Response, ApiError> {
    let (version, state) = find_existing(&app.skus.skus, id).await?;
    let subject = FormSubject::Known(present_state(&state)?, version);
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", sent.text(VERSION_FIELD))) {
        sent.call.headers.insert(IF_MATCH, tag);
    }
    let mut form = Form::submitted(&sent);
    let changed = async { skus::change(&app.skus, id, &sent.request_of(body(&app, &mut form, subject).await?)).await };
    let changed = changed.await;
    match changed {
        Ok(_) => Ok(see_other(&sku_path(id))),
        Err(error) => {
            form.refuse(error);
            form_page(&app, &sent.call.who, form, subject).await
        }
    }
}

/// Reads the body of the API operation from the form.
async fn body(app: &ProductHandles, form: &mut Form, subject: FormSubject<'_>) -> Result<FormBody, ApiError> {
    form.close_up("materials", &MATERIAL_MEMBERS);
    let rows = form.close_up("components", &COMPONENT_MEMBERS);
    if !subject.shows_components() {
        return Ok(body_of(form.texts(), subject.is_kit()).without("components"));
    }
    let texts = with_sku_ids(&app.skus.queries, &SkuFilter::default(), form, "components", rows).await?;
    Ok(body_of(texts, subject.is_kit()))
}

/// Returns the codes of a kit's components; empty for a deleted component, for which the user has to choose a new one.
async fn codes(app: &ProductHandles, fields: &SkuFields) -> Result<Vec<String>, ApiError> {
    let components = super::components(app, fields, &mut HashMap::new()).await?;
    Ok(components.into_iter().map(|one| one.map(|one| one.code).unwrap_or_default()).collect())
}

/// Withdraws a SKU from sale, or offers it again.
pub(super) async fn offer(
    State(app): State<ProductHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    skus::change(&app.skus, id, &sent.request_of(sent.change().ticked("active"))).await?;
    Ok(see_other(&sku_path(id)))
}

/// Deletes a SKU. If the SKU is still in use, serves its page with the reason.
pub(super) async fn delete(
    State(app): State<ProductHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    match skus::archive(&app.skus, id, &sent.call).await {
        Ok(_) => Ok(see_other(PRODUCTS_PATH)),
        Err(error) => {
            let mut entry = Form::empty(sent.call.who.language);
            entry.refuse(error);
            sku::page(&app, &sent.call.who, id, entry).await
        }
    }
}

async fn form_page(
    app: &ProductHandles,
    who: &Caller,
    mut form: Form,
    subject: FormSubject<'_>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.config)?;
    let language = viewer.language();
    let materials = form.close_up("materials", &MATERIAL_MEMBERS);
    let components = form.close_up("components", &COMPONENT_MEMBERS);
    for at in components..components + FREE_COMPONENT_ROWS {
        form.preset(format!("components.{at}.quantity"), "1");
    }
    let (title, back) = match subject {
        FormSubject::NewSku => (texts::new_sku(language), PRODUCTS_PATH.to_owned()),
        FormSubject::NewKit => (texts::new_kit(language), PRODUCTS_PATH.to_owned()),
        FormSubject::Known(sku, _) => (texts::edit_sku(language, &sku.fields.name), sku_path(sku.id)),
    };
    let path = match subject {
        FormSubject::Known(sku, _) => format!("{}/edit", sku_path(sku.id)),
        _ => format!("{PRODUCTS_PATH}/new"),
    };
    let sku_choices = if subject.is_kit() { None } else { Some(SkuChoices::read(language, app, &form).await?) };
    let is_ordering = form.ticked(ORDER_FIELD);
    let save = if is_ordering { texts::save_and_order(language) } else { texts::save(language) };
    let suggested = if subject.is_kit() { Some(code_list(&app.skus.queries).await?) } else { None };
    let content = html! {
        p { a href=(back) { (texts::back(language)) } }
        h1 { (title) }
        (form.alert())
        form class="sheet" method="post" action=(path) {
            @match subject {
                FormSubject::Known(..) => { (hidden()) },
                _ => { (hidden_once()) },
            }
            @match subject {
                FormSubject::Known(_, version) => { input type="hidden" name=(VERSION_FIELD) value=(version); },
                FormSubject::NewKit => { input type="hidden" name=(KIT_FIELD) value=(TICKED_WORD); },
                FormSubject::NewSku if is_ordering => {
                    input type="hidden" name=(ORDER_FIELD) value=(TICKED_WORD);
                    input type="hidden" name=(CUSTOMER_FIELD) value=(form.text(CUSTOMER_FIELD));
                },
                FormSubject::NewSku => {},
            }
            (common_fields(language, &form))
            @if subject.shows_components() { (kit_fields(language, &form, components)) } @else if subject.is_kit() {
                p { (texts::too_many_components(language)) }
            }
            @if let Some(choices) = &sku_choices { (made_fields(language, &form, choices, materials)) }
            @if let Some(suggested) = &suggested { (suggested) }
            p class="acts" {
                button type="submit" { (save) }
                a class="button second" href=(back) { (texts::cancel(language)) }
            }
        }
    };
    let response = viewer.page(StaffSection::Products, &title, &app.board.view(), &content);
    Ok(form.answer(response))
}
