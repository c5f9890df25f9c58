//! Stock conflicts with external systems, for which staff decide whose count is correct.

use maud::html;

use super::row::TaskRow;
use super::{TaskKind, ToDoHandles};
use crate::design::Icon;
use crate::staff::TO_DO_PATH;
use crate::staff::stock::{decision, material_path};
use domain::material::Material;
use domain::parts_sync::{StockLink, SyncConflict};
use words::Language;

/// Lists the conflicts of all stock links, sorted by material name.
pub(super) fn counts(app: &ToDoHandles) -> TaskKind {
    let all = app.board.shop.materials.all_resident();
    let materials = all.iter().filter_map(|(_, versioned)| versioned.present());
    let links = materials.flat_map(|material| material.links.values().map(move |link| (material, link)));
    let mut open: Vec<(&Material, &StockLink, &SyncConflict)> =
        links.filter_map(|(material, link)| Some((material, link, link.conflict.as_ref()?))).collect();
    open.sort_by(|(a, ..), (b, ..)| a.fields.name.cmp(&b.fields.name));
    let rows = open.iter().map(|(material, link, conflict)| {
        let title = html! {
            b { a href=(material_path(material.id)) { (material.fields.name) } }
            " " span class="faint small" { "also tracked in " (link.system.words()) }
        };
        let row = TaskRow::new(Icon::Database, title).swatch(material.fields.color.as_deref());
        row.detail(html! { (conflict.message) }).more(Some(decision(
            Language::English,
            material,
            link,
            Some(TO_DO_PATH),
        )))
    });
    TaskKind::new("counts", "Stock conflicts to resolve", rows.collect())
}
