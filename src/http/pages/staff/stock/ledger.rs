//! Stock ledger of a material: every change with its actor, as a chart and as a table.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::chart::{StockChart, StockStep};
use super::{StockHandles, material_path};
use crate::frame::time;
use crate::staff::filled_form::{address, ways};
use crate::staff::names::ActorNames;
use crate::staff::sheet::number_class;
use domain::amount::Amount;
use domain::material::{Material, MaterialType, Movement, MovementKind, column_amount, unit};
use http::error::ApiError;
use store::queries::Page;
use words::Language;
use words::staff::stock as texts;

/// Number of movements per page of the table.
const ROWS_PER_PAGE: u64 = 50;
/// Maximum number of movements drawn in the chart, newest first.
const STEPS_DRAWN: u64 = 200;

/// Returns the label for a kind of movement.
fn kind_words(language: Language, kind: MovementKind) -> String {
    match kind {
        MovementKind::Receive => texts::movement_received(language),
        MovementKind::Adjust => texts::movement_corrected(language),
        MovementKind::Reserve => texts::movement_reserved(language),
        MovementKind::Release => texts::movement_released(language),
        MovementKind::Consume => texts::movement_printed(language),
        MovementKind::Sync => texts::movement_synchronised(language),
    }
}

/// Formats a change in stock with its sign; empty for zero.
fn change_words(language: Language, delta: Amount, kind: MaterialType) -> String {
    match delta {
        Amount::ZERO => String::new(),
        delta if delta > Amount::ZERO => format!("+{}", column_amount(language, delta, kind)),
        delta => column_amount(language, delta, kind),
    }
}

/// Renders the ledger, newest entries first, without the first `from` entries.
pub(super) async fn render(
    language: Language,
    app: &StockHandles,
    material: &Material,
    from: u64,
) -> Result<Markup, ApiError> {
    let queries = &app.materials.queries;
    let (drawn, total) = queries.movements(material.id, Page { limit: STEPS_DRAWN, offset: 0 }).await?;
    let (lines, _) = queries.movements(material.id, Page { limit: ROWS_PER_PAGE, offset: from }).await?;
    let actors: BTreeSet<&str> = lines.iter().map(|line| line.actor.as_str()).collect();
    let names = app.log.names.actors(language, &actors).await?;
    let steps: Vec<StockStep> = drawn.iter().rev().map(|line| (line.created_at, line.quantity)).collect();
    let chart = StockChart {
        language,
        steps: &steps,
        until: app.board.shop.environment.now(),
        reorder_point: material.fields.reorder_point,
        kind: material.fields.kind,
        clock: app.board.shop.environment.rules.clock.clone(),
    };
    let part = |from: u64| address(&material_path(material.id), &[("from", &from.to_string())]);
    Ok(html! {
        section class="card" aria-labelledby="ledger-title" {
            h2 id="ledger-title" { (texts::ledger(language)) }
            (chart.html())
            @if total > STEPS_DRAWN { p class="soft" { (texts::chart_limit(language, STEPS_DRAWN)) } }
            (table(language, &names, material, &lines))
            (ways(language, from, total, ROWS_PER_PAGE, part))
        }
    })
}

fn table(language: Language, names: &ActorNames, material: &Material, lines: &[Movement]) -> Markup {
    let kind = material.fields.kind;
    let unit = unit(language, kind);
    let (on_hand, reserved) = (texts::on_hand_column(language, unit), texts::reserved_column(language, unit));
    let (on_hand_after, reserved_after) = (texts::on_hand_after(language), texts::reserved_after(language));
    html! {
        div class="table list" tabindex="0" role="region" aria-label=(texts::changes_table(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::time_column(language)) }
                        th scope="col" { (texts::change_column(language)) }
                        @for column in [&on_hand, &reserved, &on_hand_after, &reserved_after] {
                            th scope="col" class="number" { (column) }
                        }
                        th scope="col" { (texts::reason(language)) }
                        th scope="col" { (texts::by_column(language)) }
                    }
                }
                tbody {
                    @for line in lines {
                        tr {
                            td { (time(language, line.created_at)) }
                            th scope="row" { (kind_words(language, line.kind)) }
                            td class=(number_class(line.delta_quantity == Amount::ZERO)) data-label=(on_hand) {
                                (change_words(language, line.delta_quantity, kind))
                            }
                            td class=(number_class(line.delta_reserved == Amount::ZERO)) data-label=(reserved) {
                                (change_words(language, line.delta_reserved, kind))
                            }
                            td class="number start" data-label=(on_hand_after) {
                                (column_amount(language, line.quantity, kind))
                            }
                            td class=(number_class(line.reserved == Amount::ZERO)) data-label=(reserved_after) {
                                (column_amount(language, line.reserved, kind))
                            }
                            td class="wide unfolds" { (line.reason_in(language).unwrap_or_default()) }
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
        let change = |language, thousandths| change_words(language, Amount(thousandths), MaterialType::Filament);
        let actual = [1_000, -1_000, 0, 12_400_000].map(|thousandths| change(Language::English, thousandths));
        assert_eq!(actual, ["+1", "-1", "", "+12.4 kg"]);
        let german = [500, -1_500, -12_400_500].map(|thousandths| change(Language::German, thousandths));
        assert_eq!(german, ["+0,5", "-1,5", "-12,4005 kg"]);
    }
}
