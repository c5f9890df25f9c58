//! Stock ledger of a material: every change with its actor, as a chart and as a table.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::chart::{StockChart, StockStep};
use super::{StockHandles, material_path};
use crate::frame::time;
use crate::staff::filled_form::{address, ways};
use crate::staff::names::ActorNames;
use domain::amount::Amount;
use domain::material::{Material, Movement, MovementKind};
use http::error::ApiError;
use store::queries::Page;

/// Number of movements per page of the table.
const ROWS_PER_PAGE: u64 = 50;
/// Maximum number of movements drawn in the chart, newest first.
const STEPS_DRAWN: u64 = 200;

/// Returns the label for a kind of movement.
fn kind_words(kind: MovementKind) -> &'static str {
    match kind {
        MovementKind::Receive => "Received",
        MovementKind::Adjust => "Corrected",
        MovementKind::Reserve => "Reserved for a job",
        MovementKind::Release => "Released",
        MovementKind::Consume => "Printed",
        MovementKind::Sync => "Changed in another system",
    }
}

/// Formats a change in stock with its sign; empty for zero.
fn change_words(delta: Amount) -> String {
    match delta {
        Amount::ZERO => String::new(),
        delta if delta > Amount::ZERO => format!("+{delta}"),
        delta => delta.to_string(),
    }
}

/// Renders the ledger, newest entries first, without the first `from` entries.
pub(super) async fn render(app: &StockHandles, material: &Material, from: u64) -> Result<Markup, ApiError> {
    let queries = &app.materials.queries;
    let (drawn, total) = queries.movements(material.id, Page { limit: STEPS_DRAWN, offset: 0 }).await?;
    let (lines, _) = queries.movements(material.id, Page { limit: ROWS_PER_PAGE, offset: from }).await?;
    let actors: BTreeSet<&str> = lines.iter().map(|line| line.actor.as_str()).collect();
    let names = app.log.names.actors(words::Language::English, &actors).await?;
    let steps: Vec<StockStep> = drawn.iter().rev().map(|line| (line.created_at, line.quantity)).collect();
    let chart = StockChart {
        steps: &steps,
        until: app.board.shop.environment.now(),
        reorder_point: material.fields.reorder_point,
        unit: material.fields.kind.unit(),
        clock: app.board.shop.environment.rules.clock.clone(),
    };
    let part = |from: u64| address(&material_path(material.id), &[("from", &from.to_string())]);
    Ok(html! {
        section class="card" aria-labelledby="ledger-title" {
            h2 id="ledger-title" { "Ledger" }
            (chart.html())
            @if total > STEPS_DRAWN { p class="soft" { "The chart shows the latest " (STEPS_DRAWN) " changes." } }
            (table(&names, material, &lines))
            (ways(from, total, ROWS_PER_PAGE, part))
        }
    })
}

fn table(names: &ActorNames, material: &Material, lines: &[Movement]) -> Markup {
    let unit = material.fields.kind.unit();
    html! {
        div class="table" tabindex="0" role="region" aria-label="Stock changes" {
            table {
                thead {
                    tr {
                        th scope="col" { "Time" } th scope="col" { "Change" }
                        th scope="col" class="number" { "On hand (" (unit) ")" }
                        th scope="col" class="number" { "Reserved (" (unit) ")" }
                        th scope="col" class="number" { "On hand after" } th scope="col" class="number" { "Reserved after" }
                        th scope="col" { "Reason" } th scope="col" { "By" }
                    }
                }
                tbody {
                    @for line in lines {
                        tr {
                            td { (time(line.created_at)) }
                            td { (kind_words(line.kind)) }
                            td class="number" { (change_words(line.delta_quantity)) }
                            td class="number" { (change_words(line.delta_reserved)) }
                            td class="number" { (line.quantity) }
                            td class="number" { (line.reserved) }
                            td { (line.reason.as_deref().unwrap_or_default()) }
                            td { (names.name(&line.actor).text) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_its_sign() {
        let actual = [1, -1, 0].map(|units| change_words(Amount::units(units)));
        assert_eq!(actual, ["+1", "-1", ""]);
    }
}
