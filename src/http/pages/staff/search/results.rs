//! Results of a search, by kind: records of each kind are found in the same way as in their list, and described in two
//! lines.

use maud::{Markup, html};

use super::{MAX_HITS, SearchGroup, SearchHit, ShopSearchHandles};
use crate::design::{Icon, icon};
use crate::staff::card::{live_state, searched};
use crate::staff::card_picture::view_picture;
use crate::staff::filled_form::address;
use crate::staff::job::JOBS_PATH;
use crate::staff::outage::{job_words, order_words};
use crate::staff::products::sku_path;
use crate::staff::sheet::page_of;
use crate::staff::stock::{
    SLOTS_PATH, SpoolFacts, is_material_named, known_spools, level_state, material_path, materials_by_name, spool_path,
};
use crate::staff::swatch::material_swatch;
use crate::staff::timing::timing_state;
use crate::staff::{CUSTOMERS_PATH, FLOOR_PATH, ORDERS_PATH, PRODUCTS_PATH, STOCK_PATH};
use domain::aggregate::NumberSeries;
use domain::customer::Customer;
use domain::id::Id;
use domain::material::{Material, stock_amount};
use domain::notation;
use domain::order::Order;
use domain::printer::Printer;
use domain::sku::Sku;
use domain::timing::Timing;
use http::error::ApiError;
use http_api::production::orders::OrderOutlook;
use http_api::production::printers::present_all;
use store::queries::{CustomerFilter, JobFilter, OrderFilter, Page, SkuFilter};
use words::Language;
use words::staff::{products, search as texts, shell, stock};

/// Number of results to read of each kind.
const FEW_HITS: u64 = MAX_HITS as u64;

/// Returns the groups with results.
pub(super) async fn search(
    language: Language,
    app: &ShopSearchHandles,
    text: &str,
) -> Result<Vec<SearchGroup>, ApiError> {
    let (orders, jobs, products, customers) = futures::future::try_join4(
        find_orders(language, app, text),
        find_jobs(language, app, text),
        find_products(language, app, text),
        find_customers(language, app, text),
    )
    .await?;
    let groups = [
        orders,
        jobs,
        find_printers(language, app, text),
        find_spools(language, app, text),
        find_materials(language, app, text),
        products,
        customers,
    ];
    Ok(groups.into_iter().filter(|group| !group.hits.is_empty()).collect())
}

/// Returns the orders with the number or email address, the one with the number first.
async fn find_orders(language: Language, app: &ShopSearchHandles, text: &str) -> Result<SearchGroup, ApiError> {
    let number = NumberSeries::Order.parse(text);
    let mut matches = Vec::new();
    if number.is_some() {
        let filter = OrderFilter { number, ..OrderFilter::default() };
        matches = app.orders.orders.newest(&filter, FEW_HITS).await?;
    }
    let filter = OrderFilter { q: Some(text.to_owned()), ..OrderFilter::default() };
    matches.extend(app.orders.orders.newest(&filter, FEW_HITS).await?);
    let matches = matches.iter().filter_map(|(versioned, outlook)| Some((versioned.state.as_ref()?, outlook)));
    let hits = matches.map(|(order, outlook)| order_hit(language, app, order, outlook, number == Some(order.number)));
    let list = (texts::all_orders(language), address(ORDERS_PATH, &[("q", text)]));
    Ok(SearchGroup::new("orders", shell::orders(language), hits, list))
}

fn order_hit(
    language: Language,
    app: &ShopSearchHandles,
    order: &Order,
    outlook: &OrderOutlook,
    is_exact: bool,
) -> SearchHit {
    let file = order.lines.iter().find_map(|line| line.make.as_ref()?.file_id);
    let urgent = outlook.timing.filter(|timing| *timing != Timing::OnTime);
    let detail = html! {
        (order_words(language, &app.orders.board.shop, order)) ", "
        @if let Some(timing) = urgent { (timing_after_status(language, timing)) ", " }
        @if let Some(email) = &order.customer_email { (email) ", " }
        (notation::amount(language, order.total_cents, &order.currency))
    };
    let path = page_of(ORDERS_PATH, order.id);
    SearchHit { path, picture: file_or(file, Icon::Package), title: order.number_text(), detail, is_exact }
}

/// Returns the label of a timing as it follows an order's status: `Printing, late`. German labels stay as they are.
fn timing_after_status(language: Language, timing: Timing) -> String {
    let (_, label) = timing_state(language, timing);
    match language {
        Language::English => label.to_lowercase(),
        Language::German => label,
    }
}

/// Renders the picture of a file, or an icon if there is no file.
fn file_or(file: Option<Id>, shape: Icon) -> Markup {
    file.map_or_else(|| icon(shape), view_picture)
}

/// Returns the job with the number.
async fn find_jobs(language: Language, app: &ShopSearchHandles, text: &str) -> Result<SearchGroup, ApiError> {
    let number = NumberSeries::Job.parse(text);
    let jobs = if number.is_some() {
        let filter = JobFilter { number, ..JobFilter::default() };
        app.orders.jobs.queries.jobs(&filter, Page { limit: FEW_HITS, offset: 0 }).await?.0
    } else {
        Vec::new()
    };
    let hits = jobs.iter().map(|job| {
        let model = || job.source.as_ref().map(|source| source.model_file_id);
        let order = format!("{}-{:06}", NumberSeries::Order.prefix(), job.order_number);
        SearchHit {
            path: page_of(JOBS_PATH, job.id),
            picture: file_or(job.file_id.or_else(model), Icon::Layers),
            title: job.number_text(),
            detail: html! {
                (job_words(language, &app.orders.board.shop, job)) ", "
                (job.sku_name) ", " (texts::of_order(language, &order))
            },
            is_exact: true,
        }
    });
    let list = (texts::all_jobs(language), address(JOBS_PATH, &[("q", text)]));
    Ok(SearchGroup::new("jobs", shell::jobs(language), hits, list))
}

/// Returns the printers with the text in their name, location or tags, by name, the one with the whole name first.
fn find_printers(language: Language, app: &ShopSearchHandles, text: &str) -> SearchGroup {
    let name = text.to_lowercase();
    let present = present_all(&app.orders.board.shop);
    let printers = present.iter().filter_map(|versioned| versioned.state.as_ref());
    let is_exact = |printer: &Printer| printer.fields.name.to_lowercase() == name;
    let mut matches: Vec<&Printer> = printers.filter(|printer| searched(printer).contains(&name)).collect();
    matches.sort_by_cached_key(|printer| (!is_exact(printer), printer.fields.name.to_lowercase(), printer.id));
    let hits = matches.into_iter().map(|printer| {
        let fields = &printer.fields;
        let facts: Vec<&str> = [&fields.model, &fields.location].into_iter().filter_map(Option::as_deref).collect();
        SearchHit {
            path: format!("{FLOOR_PATH}/printers/{}", printer.id),
            picture: icon(Icon::Printer),
            title: fields.name.clone(),
            detail: html! { (live_state(language, &app.orders.board.shop, printer)) " " (facts.join(", ")) },
            is_exact: is_exact(printer),
        }
    });
    let list = (texts::all_printers(language), address(FLOOR_PATH, &[("q", text)]));
    SearchGroup::new("printers", texts::printers(language), hits, list)
}

/// Returns the spools whose number begins with the text, which may have a number sign in front.
fn find_spools(language: Language, app: &ShopSearchHandles, text: &str) -> SearchGroup {
    let digits = text.trim_start_matches('#').trim_start();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let spools = if is_number { known_spools(&app.stock) } else { Vec::new() };
    let numbers = spools.into_iter().filter(|(number, _)| number.to_string().starts_with(digits));
    // Sorted by number, so an exact match precedes the longer numbers that begin with it.
    let hits = numbers.take(MAX_HITS).map(|(number, material)| {
        let facts = SpoolFacts::find(&app.stock, number, material);
        let swatch = facts.material.as_ref().map(|material| material_swatch(&material.fields));
        SearchHit {
            path: spool_path(number, material),
            picture: swatch.unwrap_or_else(|| icon(Icon::Tag)),
            title: facts.title(language),
            detail: html! { (facts.summary(language)) },
            is_exact: number.to_string() == digits,
        }
    });
    SearchGroup::new("spools", texts::spools(language), hits, (texts::all_slots(language), SLOTS_PATH.to_owned()))
}

/// Returns the materials with the text in their name, brand, variant or location, by name.
fn find_materials(language: Language, app: &ShopSearchHandles, text: &str) -> SearchGroup {
    let residents = materials_by_name(&app.stock);
    let materials = residents.iter().filter_map(|versioned| versioned.state.as_ref());
    let hits = materials.filter(|material| is_material_named(material, text)).map(|one| material_hit(language, one));
    let list = (texts::all_materials(language), address(STOCK_PATH, &[("q", text)]));
    SearchGroup::new("materials", texts::materials(language), hits, list)
}

fn material_hit(language: Language, material: &Material) -> SearchHit {
    let fields = &material.fields;
    let (_, label) = level_state(language, material);
    let amount = |amount| stock_amount(language, amount, fields.kind);
    let levels = stock::on_hand_and_available(language, &amount(material.quantity), &amount(material.available()));
    let facts: Vec<&str> = [&fields.brand, &fields.variant].into_iter().filter_map(Option::as_deref).collect();
    SearchHit {
        path: material_path(material.id),
        picture: material_swatch(fields),
        title: fields.name.clone(),
        detail: html! {
            (label) ", " (levels)
            @for fact in facts { ", " (fact) }
        },
        is_exact: false,
    }
}

/// Returns the products with the text in their name or code, the one with the whole code first.
async fn find_products(language: Language, app: &ShopSearchHandles, text: &str) -> Result<SearchGroup, ApiError> {
    let filter = SkuFilter { code: Some(text.to_owned()), ..SkuFilter::default() };
    let mut matches = app.skus.queries.newest_skus(&filter, FEW_HITS).await?;
    let filter = SkuFilter { q: Some(text.to_owned()), ..SkuFilter::default() };
    matches.extend(app.skus.queries.newest_skus(&filter, FEW_HITS).await?);
    let skus = matches.iter().filter_map(|versioned| versioned.state.as_ref());
    let list = (texts::all_products(language), address(PRODUCTS_PATH, &[("q", text)]));
    Ok(SearchGroup::new("products", shell::products(language), skus.map(|sku| product_hit(language, sku)), list))
}

fn product_hit(language: Language, sku: &Sku) -> SearchHit {
    let fields = &sku.fields;
    let label = if fields.active { products::offered_filter(language) } else { products::withdrawn_filter(language) };
    SearchHit {
        path: sku_path(sku.id),
        picture: file_or(fields.gcode_file_id.or(fields.model_file_id), Icon::Shapes),
        title: fields.name.clone(),
        detail: html! {
            (label) ", " (fields.code) ", " (notation::amount(language, fields.price_cents, &fields.currency))
        },
        is_exact: false,
    }
}

/// Returns the customers with the text in their email address or name.
async fn find_customers(language: Language, app: &ShopSearchHandles, text: &str) -> Result<SearchGroup, ApiError> {
    let filter = CustomerFilter { q: Some(text.to_owned()), ..CustomerFilter::default() };
    let matches = app.customers.queries.newest_customers(&filter, FEW_HITS).await?;
    let hits = matches.iter().filter_map(|versioned| versioned.state.as_ref()).map(customer_hit);
    let list = (texts::all_customers(language), address(CUSTOMERS_PATH, &[("q", text)]));
    Ok(SearchGroup::new("customers", shell::customers(language), hits, list))
}

fn customer_hit(customer: &Customer) -> SearchHit {
    let facts: Vec<&str> = [&customer.name, &customer.company].into_iter().filter_map(Option::as_deref).collect();
    SearchHit {
        path: page_of(CUSTOMERS_PATH, customer.id),
        picture: icon(Icon::User),
        title: customer.email.clone(),
        detail: html! { (facts.join(", ")) },
        is_exact: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_facts_after_the_first_are_in_lower_case() {
        assert_eq!(timing_after_status(Language::English, Timing::AtRisk), "at risk");
        let german = timing_after_status(Language::German, Timing::AtRisk);
        assert_eq!(german, timing_state(Language::German, Timing::AtRisk).1);
    }
}
