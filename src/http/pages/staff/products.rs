//! SKUs, kits and files: products for sale, the files from which they are printed, and whether they can be ordered.

mod file;
mod files;
mod from_file;
mod kit;
mod machines;
mod sku;
mod sku_acts;
mod sku_form;

pub(super) use self::file::mini_picture;
pub(super) use self::machines::machine_label;

use std::collections::HashMap;
use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use maud::{Markup, html};

use super::PRODUCTS_PATH;
use super::board::BoardHandles;
use super::filled_form::address;
use super::sheet::{ListFilter, ListPart, list_filters, non_empty};
use super::shell::{StaffSection, StaffViewer, Tone};
use crate::form::Form;
use actors::orders::make::ProductionSources;
use config::Config;
use domain::amount::Amount;
use domain::id::Id;
use domain::material::{MaterialType, stock_amount};
use domain::notation;
use domain::refusal::Faults;
use domain::sku::{OrderObstacle, Sku, SkuFields};
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::routes::{PageBounds, Routes};
use http::wire::FieldTexts;
use http_api::production::files::FileHandles;
use http_api::production::jobs::JobHandles;
use http_api::production::orders::OrderHandles;
use http_api::production::skus::SkuHandles;
use store::queries::{Page, Queries, SkuFilter};
use words::Language;
use words::staff::products as texts;

/// Maximum number of SKU codes that are suggested, newest first; further codes have to be typed.
const CODES_SUGGESTED: u64 = 200;
/// Number of SKUs read per name; a second one makes the name ambiguous.
const NAMESAKES_READ: u64 = 2;
/// HTML ID of the list of suggested SKU codes.
pub(super) const CODE_LIST: &str = "sku-codes";

handles! {
    /// Dependencies of the product pages.
    pub(crate) struct ProductHandles {
        board: BoardHandles,
        skus: SkuHandles,
        files: FileHandles,
        jobs: JobHandles,
        orders: OrderHandles,
        sources: ProductionSources,
        config: Arc<Config>,
    }
}

/// Cache of SKUs read for a page, such as kit components; `None` for a deleted SKU.
type SkuCache = HashMap<Id, Option<SkuFields>>;

/// Adds the routes of the product pages.
pub(super) fn routes(routes: Routes) -> Routes {
    use RequiredAccess::Session;
    let (get, post, form) = (Method::GET, Method::POST, PageBounds::Form);
    routes
        .page(get.clone(), Session, PRODUCTS_PATH, list, form)
        .page(get.clone(), Session, "/shop/products/new", sku_acts::begin, form)
        .page(post.clone(), Session, "/shop/products/new", sku_acts::add, form)
        .page(get.clone(), Session, "/shop/products/{id}", sku::show, form)
        .page(get.clone(), Session, "/shop/products/{id}/edit", sku_acts::edit, form)
        .page(post.clone(), Session, "/shop/products/{id}/edit", sku_acts::change, form)
        .page(post.clone(), Session, "/shop/products/{id}/offer", sku_acts::offer, form)
        .page(post.clone(), Session, "/shop/products/{id}/delete", sku_acts::delete, form)
        .page(get.clone(), Session, files::PATH, files::list, form)
        .page(post.clone(), Session, files::PATH, files::upload, PageBounds::Upload)
        .page(get.clone(), Session, "/shop/products/files/{id}", file::show, form)
        .page(get, Session, "/shop/products/files/{id}/pictures/{number}", file::picture, form)
        // What a printer is asked takes as long as the printer takes.
        .page(post.clone(), Session, "/shop/products/files/{id}/print", file::print, PageBounds::Long)
        .page(post, Session, "/shop/products/files/{id}/delete", file::delete, form)
}

/// Query parameters of the SKU list. Unknown values are ignored.
#[derive(Request, Debug)]
pub(super) struct ProductQuery {
    /// Part of the name or code.
    q: Option<String>,
    /// Subset to show: `active`, `withdrawn` or `kits`.
    show: Option<String>,
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

impl ProductQuery {
    fn filter(&self) -> SkuFilter {
        let q = non_empty(self.q.as_ref()).map(str::to_owned);
        let (active, kit) = match self.show.as_deref() {
            Some("active") => (Some(true), None),
            Some("withdrawn") => (Some(false), None),
            Some("kits") => (None, Some(true)),
            _ => (None, None),
        };
        SkuFilter { active, q, kit, ..SkuFilter::default() }
    }
}

/// Renders the tabs of the product pages.
pub(super) fn tabs(language: Language, now: &str) -> Markup {
    let parts = [(PRODUCTS_PATH, texts::skus_tab(language)), (files::PATH, texts::files_tab(language))];
    html! {
        nav class="tabs" aria-label=(texts::list_title(language)) {
            @for (path, label) in parts { a href=(path) aria-current=[(path == now).then_some("page")] { (label) } }
        }
    }
}

/// Serves the SKU list.
pub(super) async fn list(
    State(app): State<ProductHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<ProductQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let language = viewer.language();
    let narrowed = vec![("q", non_empty(query.q.as_ref())), ("show", non_empty(query.show.as_ref()))];
    let is_narrowed = narrowed.iter().any(|(_, value)| value.is_some());
    let part = ListPart { path: PRODUCTS_PATH, narrowed, from: query.from };
    let (results, total) = app.skus.queries.skus(&query.filter(), part.page()).await?;
    let (mut rows, mut cache) = (Vec::with_capacity(results.len()), HashMap::new());
    for sku in results.iter().filter_map(|versioned| versioned.state.as_ref()) {
        rows.push(row(language, &app, sku, &mut cache).await?);
    }
    let title = texts::list_title(language);
    let content = html! {
        div class="head" {
            h1 { (title) }
            span class="push" {}
            (files::upload_form(language, "btn"))
            a class="btn" href={ (PRODUCTS_PATH) "/new?kit=1" } { (texts::new_kit(language)) }
            a class="btn primary" href={ (PRODUCTS_PATH) "/new" } { (texts::new_sku(language)) }
        }
        (tabs(language, PRODUCTS_PATH))
        (subsets(language, &query))
        (tools(language, &query))
        div id="products" data-fresh="" {
            @if rows.is_empty() && !is_narrowed && query.from == 0 { (nothing(language)) } @else if rows.is_empty() {
                p { (texts::no_sku_match(language)) " " a href=(PRODUCTS_PATH) { (texts::show_all(language)) } }
            } @else { (table(language, &rows)) }
        }
        (part.links(language, total)) (files::drop_hint(language))
    };
    Ok(viewer.page(StaffSection::Products, &title, &app.board.view(), &content))
}

fn table(language: Language, rows: &[Markup]) -> Markup {
    html! {
        div class="table list" tabindex="0" role="region" aria-label=(texts::skus_tab(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::picture_column(language)) }
                        th scope="col" { (texts::product_and_code_column(language)) }
                        th scope="col" { (texts::material_column(language)) }
                        th scope="col" class="number" { (texts::price_column(language)) }
                        th scope="col" { (texts::orderable_column(language)) }
                    }
                }
                tbody { @for row in rows { (row) } }
            }
        }
    }
}

/// Renders the message for a shop without SKUs.
fn nothing(language: Language) -> Markup {
    html! {
        section class="card" aria-labelledby="begin" {
            h2 id="begin" { (texts::no_skus_heading(language)) }
            p { (texts::no_skus_text(language)) }
            p { (texts::no_skus_next(language)) }
        }
    }
}

/// Renders the links to subsets of the list.
fn subsets(language: Language, query: &ProductQuery) -> Markup {
    let (chosen, q) = (query.show.as_deref().unwrap_or_default(), query.q.as_deref().unwrap_or_default());
    let shows = [
        ("", texts::all_filter(language)),
        ("active", texts::offered_filter(language)),
        ("withdrawn", texts::withdrawn_filter(language)),
        ("kits", texts::kits_filter(language)),
    ];
    let filters = shows.iter().map(|(word, label)| ListFilter {
        label,
        path: address(PRODUCTS_PATH, &[("q", q), ("show", *word)]),
        count: None,
        is_current: *word == chosen,
    });
    list_filters(&texts::filters(language), &filters.collect::<Vec<_>>())
}

fn tools(language: Language, query: &ProductQuery) -> Markup {
    html! {
        form class="tools" method="get" action=(PRODUCTS_PATH) role="search" {
            div class="field" {
                label for="q" { (texts::search_field(language)) }
                input id="q" name="q" type="search" maxlength="200" value=[query.q.as_deref()];
            }
            @if let Some(word) = non_empty(query.show.as_ref()) { input type="hidden" name="show" value=(word); }
            button class="second" type="submit" { (texts::search(language)) }
        }
    }
}

async fn row(language: Language, app: &ProductHandles, sku: &Sku, cache: &mut SkuCache) -> Result<Markup, ApiError> {
    let fields = &sku.fields;
    let obstacles = obstacles(app, sku, cache).await?;
    Ok(html! {
        tr {
            td { (mini_picture(fields.gcode_file_id.or(fields.model_file_id))) }
            th scope="row" {
                a class="ellipsis" title=(fields.name) href=(sku_path(sku.id)) { (fields.name) }
                span class="below ellipsis" title=(fields.code) { (fields.code) }
            }
            td { (content_words(language, app, fields)) }
            td class="number start" { (notation::amount(language, fields.price_cents, &fields.currency)) }
            td data-label=(texts::orderable_label(language)) { (orderable(language, &obstacles)) }
        }
    })
}

/// Returns the materials of a part, or the number of SKUs in a kit.
fn content_words(language: Language, app: &ProductHandles, fields: &SkuFields) -> String {
    if fields.is_kit() {
        return texts::kit_of(language, fields.components.len());
    }
    let per_part = Amount(fields.estimated_consumption.0 / i64::from(fields.units_per_plate.max(1)));
    let material = material_words(language, app, fields.material_id, per_part, stock_amount);
    match fields.materials.len() {
        0 => material,
        more => texts::with_more_materials(language, &material, more),
    }
}

/// Returns the path of a SKU's page.
pub(super) fn sku_path(id: Id) -> String {
    format!("{PRODUCTS_PATH}/{id}")
}

/// Returns the SKUs of a kit's components, in the kit's order; `None` for a deleted SKU. A SKU that is not in `cache`
/// yet is read only once.
async fn components(
    app: &ProductHandles,
    fields: &SkuFields,
    cache: &mut SkuCache,
) -> Result<Vec<Option<SkuFields>>, ApiError> {
    let mut resolved = Vec::with_capacity(fields.components.len());
    for component in &fields.components {
        if let Some(read) = cache.get(&component.sku_id) {
            resolved.push(read.clone());
            continue;
        }
        let state = app.skus.skus.read(component.sku_id).await?;
        let sku = state.as_ref().and_then(|state| state.present());
        let read = sku.map(|sku| sku.fields.clone());
        cache.insert(component.sku_id, read.clone());
        resolved.push(read);
    }
    Ok(resolved)
}

/// Returns the reasons a SKU cannot be ordered.
async fn obstacles(app: &ProductHandles, sku: &Sku, cache: &mut SkuCache) -> Result<Vec<OrderObstacle>, ApiError> {
    let components = components(app, &sku.fields, cache).await?;
    let components: Vec<Option<&SkuFields>> = components.iter().map(Option::as_ref).collect();
    Ok(sku.fields.obstacles(&components))
}

/// Renders whether a SKU can be ordered and, if not, why.
fn orderable(language: Language, obstacles: &[OrderObstacle]) -> Markup {
    let (tone, label) = if obstacles.is_empty() {
        (Tone::Working, texts::orderable(language))
    } else if obstacles.iter().any(OrderObstacle::stops_all) {
        (Tone::Error, texts::not_orderable(language))
    } else {
        (Tone::Attention, texts::partly_orderable(language))
    };
    html! {
        span class=(tone.class()) { (label) }
        @if !obstacles.is_empty() {
            ul class="reasons" { @for obstacle in obstacles { li { (obstacle.words(language)) } } }
        }
    }
}

/// Formats an amount of a material by `words_of`, with the material's name.
fn material_words(
    language: Language,
    app: &ProductHandles,
    material: Option<Id>,
    amount: Amount,
    words_of: fn(Language, Amount, MaterialType) -> String,
) -> String {
    let handle = material.and_then(|id| app.skus.materials.resident(id)).map(|handle| handle.read());
    let material_fields = handle.as_ref().and_then(|versioned| versioned.state.as_ref()).map(|record| &record.fields);
    match material_fields {
        Some(fields) => format!("{} {}", words_of(language, amount, fields.kind), fields.name),
        None => texts::deleted_material(language, &notation::decimal(language, amount)),
    }
}

/// Renders the list of SKU codes that form fields suggest.
pub(super) async fn code_list(queries: &Queries) -> Result<Markup, ApiError> {
    let active = SkuFilter { active: Some(true), ..SkuFilter::default() };
    let (results, _) = queries.skus(&active, Page { limit: CODES_SUGGESTED, offset: 0 }).await?;
    let skus = results.iter().filter_map(|versioned| versioned.state.as_ref());
    Ok(html! {
        datalist id=(CODE_LIST) { @for sku in skus { option value=(sku.fields.code) { (sku.fields.name) } } }
    })
}

/// Returns the SKU with the given code or, failing that, the only SKU with the given name, ignoring case, among those
/// that match a filter. Otherwise, returns the error for the form field.
async fn find_sku(queries: &Queries, among: &SkuFilter, text: &str) -> Result<Result<Id, &'static str>, ApiError> {
    let filter = SkuFilter { code: Some(text.to_owned()), ..SkuFilter::default() };
    let (results, _) = queries.skus(&filter, Page { limit: 1, offset: 0 }).await?;
    if let Some(id) = results.into_iter().find_map(|versioned| Some(versioned.state?.id)) {
        return Ok(Ok(id));
    }
    let filter = SkuFilter { name: Some(text.to_owned()), ..among.clone() };
    let (results, _) = queries.skus(&filter, Page { limit: NAMESAKES_READ, offset: 0 }).await?;
    let skus = results.into_iter().filter_map(|versioned| versioned.state);
    Ok(only_named(text, skus.map(|sku| (sku.id, sku.fields.name))))
}

/// Returns the only SKU with the given name, ignoring case.
fn only_named(text: &str, skus: impl IntoIterator<Item = (Id, String)>) -> Result<Id, &'static str> {
    let name = text.to_lowercase();
    let mut namesakes = skus.into_iter().filter(|(_, other)| other.to_lowercase() == name).map(|(id, _)| id);
    match (namesakes.next(), namesakes.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err("several products have this name; enter the code"),
        (None, _) => Err("no product has this name or code"),
    }
}

/// Puts the IDs of SKUs in place of their names or codes in the rows of a form; fails if any of them is unknown. Names
/// refer to the SKUs that match a filter.
pub(super) async fn with_sku_ids(
    queries: &Queries,
    among: &SkuFilter,
    form: &Form,
    of: &str,
    rows: usize,
) -> Result<FieldTexts, ApiError> {
    let (mut faults, mut texts) = (Faults::default(), form.texts());
    for at in 0..rows {
        let path = format!("{of}.{at}.skuId");
        match find_sku(queries, among, form.text(&path)).await? {
            Ok(id) => {
                texts.insert(path, id.to_string());
            }
            Err(words) => faults.note(&path, words),
        }
    }
    faults.refuse()?;
    Ok(texts)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_name_names_a_product_if_only_one_has_it() {
        let ids = ["01890a5d-ac96-774b-bcce-b302099a8065", "01890a5d-ac96-774b-bcce-b302099a8066"];
        let [one, other]: [Id; 2] = ids.map(|id| id.parse().unwrap());
        let skus = |names: [&str; 2]| [(one, names[0].to_owned()), (other, names[1].to_owned())];
        assert_eq!(only_named("cable CLIP", skus(["Cable clip", "Cable clip, large"])), Ok(one));
        assert!(only_named("Clip", skus(["Clip", "clip"])).is_err_and(|words| words.contains("code")));
        assert!(only_named("Cable", skus(["Cable clip", "Vase"])).is_err());
    }
}
