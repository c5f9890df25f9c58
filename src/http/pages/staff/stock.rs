//! Stock: materials on hand and available, reorders, deliveries and stock counts, the ledger, and spools with their
//! slots.
//!
//! Materials and printers are read from memory, the ledger from the database. Forms are handled by the API handlers.

mod acts;
mod bins;
mod chart;
mod decision;
mod edit;
mod ledger;
mod list;
mod material;
mod slots;
mod spool;
mod spool_acts;

use std::sync::Arc;

use axum::http::Method;

pub(super) use self::bins::{BINS_PATH, bin_path, bins_of};
pub(super) use self::decision::{also_tracked_in, decision};
pub(super) use self::list::{is_material_named, level_state};
pub(super) use self::slots::shown_spool;
pub(super) use self::spool::{SpoolFacts, known_spools, spool_path};
use super::STOCK_PATH;
use super::board::BoardHandles;
use super::log::LogHandles;
use config::Config;
use domain::aggregate::Versioned;
use domain::id::Id;
use domain::material::Material;
use domain::printer::Printer;
use http::access::RequiredAccess;
use http::handles::handles;
use http::routes::{PageBounds, Routes};
use http_api::production::materials::MaterialHandles;
use http_api::production::stock_links::LinkHandles;

/// Path of the form for adding a material.
const NEW_PATH: &str = "/shop/stock/new";
/// Path of the page that lists all printers' slots and their contents.
pub(super) const SLOTS_PATH: &str = "/shop/stock/slots";

/// Returns the path of the slot list with the form for a slot of a printer at the top: the only one, or the first empty
/// one, with the material chosen; the first one as it is if a spool has to make room.
pub(super) fn slot_form_path(printer: &Printer, material: Id) -> String {
    let slots = printer.slots();
    let place = if slots.len() > 1 {
        slots.iter().find(|slot| slot.material_id.is_none()).map(|slot| slot.slot)
    } else {
        Some(0)
    };
    let printer = printer.id;
    match place {
        Some(number) => format!("{SLOTS_PATH}?place={printer}/{number}&material={material}"),
        None => format!("{SLOTS_PATH}?place={printer}/0"),
    }
}

handles! {
    /// Dependencies of the stock pages.
    pub(crate) struct StockHandles {
        board: BoardHandles,
        materials: MaterialHandles,
        links: LinkHandles,
        log: LogHandles,
        config: Arc<Config>,
    }
}

/// Adds the routes of the stock pages.
pub(super) fn routes(routes: Routes) -> Routes {
    use RequiredAccess::Session;
    let (get, post, form) = (Method::GET, Method::POST, PageBounds::Form);
    routes
        .page(get.clone(), Session, STOCK_PATH, list::show, form)
        .page(get.clone(), Session, NEW_PATH, edit::show_new, form)
        .page(post.clone(), Session, NEW_PATH, edit::add, form)
        .page(get.clone(), Session, BINS_PATH, bins::show, form)
        .page(get.clone(), Session, SLOTS_PATH, slots::show, form)
        .page(post.clone(), Session, SLOTS_PATH, slots::say, form)
        .page(get.clone(), Session, "/shop/stock/materials/{id}", material::show, form)
        .page(get.clone(), Session, "/shop/stock/materials/{id}/edit", edit::show, form)
        .page(post.clone(), Session, "/shop/stock/materials/{id}/edit", edit::change, form)
        .page(post.clone(), Session, "/shop/stock/materials/{id}/receive", acts::receive, form)
        .page(post.clone(), Session, "/shop/stock/materials/{id}/write-off", acts::write_off, form)
        .page(post.clone(), Session, "/shop/stock/materials/{id}/count", acts::count, form)
        .page(post.clone(), Session, "/shop/stock/materials/{id}/remove", acts::remove, form)
        .page(post.clone(), Session, "/shop/stock/materials/{id}/agree", acts::agree, form)
        .page(get, Session, "/shop/stock/spools/{id}", spool::show, form)
        .page(post.clone(), Session, "/shop/stock/spools/{id}/load", spool_acts::load, form)
        .page(post.clone(), Session, "/shop/stock/spools/{id}/weigh", spool_acts::weigh, form)
        .page(post.clone(), Session, "/shop/stock/spools/{id}/unload", spool_acts::unload, form)
        .page(post, Session, "/shop/stock/spools/{id}/retire", spool_acts::retire, form)
}

/// Returns the path of a material's page.
pub(super) fn material_path(id: Id) -> String {
    format!("{STOCK_PATH}/materials/{id}")
}

/// Returns all materials that have not been deleted, sorted by name.
pub(super) fn materials_by_name(app: &StockHandles) -> Vec<Arc<Versioned<Material>>> {
    let mut all = app.materials.materials.all_present();
    all.sort_by_key(|versioned| versioned.state.as_ref().map(|one| (one.fields.name.to_lowercase(), one.id)));
    all
}
