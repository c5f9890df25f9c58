//! Materials that run low.

use maud::html;

use super::row::TaskRow;
use super::{TaskKind, ToDoHandles};
use crate::design::Icon;
use crate::staff::stock::material_path;
use domain::amount::Amount;
use domain::material::{Material, exact_stock_amount, stock_amount};
use words::Language;
use words::staff::to_do;

/// Lists the materials that run low, sorted by name.
pub(super) fn low_stock(language: Language, app: &ToDoHandles) -> TaskKind {
    let all = app.board.shop.materials.all_resident();
    let low = |material: &&Material| !material.archived && material.runs_low();
    let mut low: Vec<&Material> =
        all.iter().filter_map(|(_, versioned)| versioned.state.as_ref()).filter(low).collect();
    low.sort_by(|a, b| a.fields.name.cmp(&b.fields.name));
    let rows = low.iter().map(|material| {
        let amount = |of: Amount| stock_amount(language, of, material.fields.kind);
        let title = html! { b { a href=(material_path(material.id)) { (material.fields.name) } } };
        let available = amount(material.available());
        let detail = match material.fields.reorder_point {
            Amount::ZERO => to_do::stock_without_level(language, &available),
            point => to_do::stock_left(language, &available, &amount(point)),
        };
        let row = TaskRow::new(Icon::Database, title).facts(html! { (detail) }).swatch(&material.fields);
        let order = exact_stock_amount(language, material.to_order(), material.fields.kind);
        let order = to_do::to_order(language, &order);
        row.acts(html! { span class="num" { (order) } })
    });
    TaskKind::new(language, "stock", to_do::kind_stock, rows.collect())
}
