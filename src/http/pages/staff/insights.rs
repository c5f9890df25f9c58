//! Shop statistics as numbers and charts for a selected time span. The table behind each chart can be downloaded.
//!
//! The numbers come from the API; the key figures are compared with the preceding time span's. The page has no live
//! updates.

mod chart;
mod figure;
mod figures;
mod look;
mod summary;

use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use axum::http::{Method, header};
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};

use self::figure::Figure;
use self::figures::figures;
use self::look::look;
use self::summary::{SpanFigure, span_figures, summary};
use super::board::BoardHandles;
use super::printer_form::NEW_PRINTER_PATH;
use super::shell::{StaffSection, StaffViewer};
use super::{FLOOR_PATH, INSIGHTS_PATH, ORDERS_PATH, PRODUCTS_PATH, STOCK_PATH};
use crate::frame::{SLOT, with_parts};
use config::Config;
use domain::insights::comparison::span_before;
use domain::refusal::Refusal;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::routes::{PageBounds, Routes};
use http_api::production::insights::{InsightHandles, InsightTotals, Insights, insight_totals, insights};
use words::Language;
use words::staff::{insights as texts, shell};

/// Time span that can be selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct InsightSpan {
    /// Value of the time span in URLs.
    word: &'static str,
    /// Number of days, including today.
    days: i64,
}

/// Available time spans.
const SPANS: [InsightSpan; 4] = [
    InsightSpan { word: "7", days: 7 },
    USUAL_SPAN,
    InsightSpan { word: "90", days: 90 },
    InsightSpan { word: "365", days: 365 },
];
/// Default time span.
const USUAL_SPAN: InsightSpan = InsightSpan { word: "30", days: 30 };
/// Path for downloading a chart's table.
const TABLE_PATH: &str = "/shop/insights/table";

handles! {
    /// Dependencies of the statistics page.
    pub(crate) struct InsightPageHandles {
        board: BoardHandles,
        insights: InsightHandles,
        config: Arc<Config>,
    }
}

/// Query parameter with the time span to show. An unknown value selects the default.
#[derive(Request, Debug)]
pub(super) struct SpanQuery {
    /// Number of days, including today.
    days: Option<String>,
}

/// Query parameters for a download: the chart and the time span.
#[derive(Request, Debug)]
pub(super) struct FigureQuery {
    /// Number of days, including today.
    days: Option<String>,
    /// Name of the chart.
    figure: Option<String>,
}

/// Adds the statistics pages to the routes.
pub(super) fn routes(routes: Routes) -> Routes {
    let operator = RequiredAccess::Session;
    routes.page(Method::GET, operator, INSIGHTS_PATH, show, PageBounds::Form).page(
        Method::GET,
        operator,
        TABLE_PATH,
        download,
        PageBounds::Form,
    )
}

fn span(days: Option<&str>) -> InsightSpan {
    SPANS.into_iter().find(|span| days == Some(span.word)).unwrap_or(USUAL_SPAN)
}

async fn read(app: &InsightPageHandles, days: i64) -> Result<Insights, ApiError> {
    let now = app.insights.environment.now();
    // What happened in this very millisecond is counted too.
    let clock = &app.config.shop.time_zone;
    let from = clock.day_start_before(now, days - 1);
    insights(&app.insights, Some(from), Some(now.plus_ms(1)), clock).await
}

/// Reads the totals for the time span that precedes the one covered by `insights`.
async fn read_before(app: &InsightPageHandles, insights: &Insights, days: i64) -> Result<InsightTotals, ApiError> {
    let (from, to) = span_before(insights.from, insights.to, days, &app.config.shop.time_zone);
    insight_totals(&app.insights, from, to).await
}

/// Serves the statistics page.
async fn show(
    State(app): State<InsightPageHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<SpanQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let (view, language) = (app.board.view(), viewer.language());
    let chosen = span(query.days.as_deref());
    let insights = read(&app, chosen.days).await?;
    let earlier = read_before(&app, &insights, chosen.days).await?;
    let currency = &app.config.orders.currency;
    let title = shell::insights(language);
    let key_figures = span_figures(language, &insights, &earlier, currency);
    let figures = figures(language, &insights);
    let content = html! {
        div class="head" {
            h1 { (title) }
            (spans(language, chosen))
        }
        @if insights.activity.total.prints == 0 { (empty(language, &insights)) }
        (summary(language, &key_figures, chosen.days))
        (look(language, &insights, &earlier, chosen.days, currency))
        @for figure in &figures {
            @if let Some(chart) = &figure.chart { (section(language, figure, chart, chosen.word, currency)) }
        }
        (nothing_yet(language, &key_figures, &figures))
    };
    Ok(viewer.page(StaffSection::Insights, &title, &view, &content))
}

/// Serves a chart's table as a download.
async fn download(
    State(app): State<InsightPageHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<FigureQuery>,
) -> Result<Response, ApiError> {
    StaffViewer::new(&who, &app.config)?;
    let InsightSpan { word, days } = span(query.days.as_deref());
    // Tables are for programs too, so they are alike for everybody.
    let figures = figures(Language::English, &read(&app, days).await?);
    let figure = figures.iter().find(|figure| query.figure.as_deref() == Some(figure.slug));
    let figure = figure.ok_or_else(|| Refusal::not_found("figure"))?;
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8; header=present".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"insights-{}-{word}-days.csv\"", figure.slug)),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, figure.csv()).into_response())
}

fn spans(language: Language, chosen: InsightSpan) -> Markup {
    html! {
        nav class="filters" aria-label=(texts::period(language)) {
            @for span in SPANS {
                a class="filter" href={ (INSIGHTS_PATH) "?days=" (span.word) } aria-current=[(span == chosen).then_some("true")] {
                    (texts::period_days(language, span.days))
                }
            }
        }
    }
}

/// Renders the notice for a time span without prints.
fn empty(language: Language, insights: &Insights) -> Markup {
    let printers = !insights.activity.by_printer.is_empty();
    html! {
        section class="card" id="empty" aria-labelledby="empty-title" {
            h2 id="empty-title" { (texts::empty_title(language)) }
            @if printers {
                p { (texts::empty_choose(language)) }
                p class="acts" {
                    a class="button" href=(ORDERS_PATH) { (texts::view_orders(language)) }
                    a class="button second" href=(FLOOR_PATH) { (texts::open_floor(language)) }
                }
            } @else {
                @let command = html! { code { "printfloor demo" } };
                p {
                    (texts::no_printers(language)) " "
                    (with_parts(&texts::sample_data(language, SLOT), &[&command]))
                }
                p class="acts" {
                    a class="button" href=(NEW_PRINTER_PATH) { (texts::add_printer(language)) }
                    a class="button second" href=(STOCK_PATH) { (texts::add_material(language)) }
                    a class="button second" href=(PRODUCTS_PATH) { (texts::add_sku(language)) }
                }
            }
        }
    }
}

/// Renders a line with the names of the key figures and charts that have no data; nothing if all of them have data, or
/// if none has, which the notice for a time span without prints covers.
fn nothing_yet(language: Language, key_figures: &[SpanFigure], figures: &[Figure]) -> Markup {
    let key_figures = key_figures.iter().map(|figure| (figure.label.as_str(), figure.value.is_some()));
    let charts = figures.iter().map(|figure| (figure.title.as_str(), figure.chart.is_some()));
    let (with_data, without): (Vec<_>, Vec<_>) = key_figures.chain(charts).partition(|(_, has_data)| *has_data);
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in without {
        // A key figure and a chart may have the same name.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    html! {
        @if !names.is_empty() && !with_data.is_empty() {
            p class="soft" id="nothing-yet" { (texts::nothing_yet(language, &names.join(", "))) }
        }
    }
}

fn section(language: Language, figure: &Figure, chart: &Markup, word: &str, currency: &str) -> Markup {
    let id = format!("{}-title", figure.slug);
    html! {
        section class="card" id=(figure.slug) aria-labelledby=(id) {
            h2 id=(id) { (figure.title) }
            p class="soft" { (figure.about) }
            div class="insight-figure" {
                div { (chart) }
                div {
                    (figure.table(language, currency))
                    @let empty = figure.empty_days();
                    @if empty > 0 { p class="soft small" { (texts::empty_days(language, empty)) } }
                }
            }
            p {
                a href={ (TABLE_PATH) "?figure=" (figure.slug) "&days=" (word) } download="" {
                    (texts::as_csv(language, &figure.title))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_time_is_the_usual_one() {
        let days = [Some("365"), Some("8"), None].map(|days| span(days).days);
        assert_eq!(days, [365, 30, 30]);
    }
}
