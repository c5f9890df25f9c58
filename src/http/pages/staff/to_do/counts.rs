//! Stock conflicts with external systems, for which staff decide whose count is correct.

use maud::html;

use super::row::TaskRow;
use super::{TaskKind, ToDoHandles};
use crate::design::Icon;
use crate::staff::TO_DO_PATH;
use crate::staff::stock::{also_tracked_in, decision, material_path};
use crate::times::message_in;
use domain::material::Material;
use domain::parts_sync::{StockLink, SyncConflict};
use words::Language;
use words::staff::to_do;

/// Lists the conflicts of all stock links, sorted by material name.
pub(super) fn counts(language: Language, app: &ToDoHandles) -> TaskKind {
    let all = app.board.shop.materials.all_resident();
    let materials = all.iter().filter_map(|(_, versioned)| versioned.present());
    let links = materials.flat_map(|material| material.links.values().map(move |link| (material, link)));
    let mut open: Vec<(&Material, &StockLink, &SyncConflict)> =
        links.filter_map(|(material, link)| Some((material, link, link.conflict.as_ref()?))).collect();
    open.sort_by(|(a, ..), (b, ..)| a.fields.name.cmp(&b.fields.name));
    let rows = open.iter().map(|(material, link, conflict)| {
        let title = html! {
            b { a href=(material_path(material.id)) { (material.fields.name) } }
            " " span class="faint small" { (also_tracked_in(language, link.system)) }
        };
        let row = TaskRow::new(Icon::Database, title).swatch(&material.fields);
        row.detail(message_in(language, &conflict.message)).more(Some(decision(
            language,
            material,
            link,
            Some(TO_DO_PATH),
        )))
    });
    TaskKind::new(language, "counts", to_do::kind_counts, rows.collect())
}
