//! Links between materials and external stock systems: the linked entries, the state of each link, and conflicts that
//! an operator must resolve.

mod view;

use std::collections::BTreeMap;

use api_derive::Request;
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::request::Parts;
use serde_json::json;

use self::view::{LinkState, LinkView, LinksView, StockEntryView, SystemView};
use actors::integrations::{StockSystemState, StockSystemStatuses};
use domain::amount::Amount;
use domain::id::Id;
use domain::material::{LinkAnswer, Material, UnlinkStock};
use domain::parts_sync::{LinkCommand, RightSide, StockSystem};
use domain::principal::Role;
use domain::refusal::Refusal;
use http::access::RequiredAccess;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use http::error::ApiError;
use http::handler::Argument;
use http::handles::handles;
use http::page::{PageQuery, Query, cut};
use http::path_id::PathId;
use http::reply::{Created, ListPage, NoContent, Plain, Resource};
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, OptionalBody, enumeration};
use kernel::directory::Directory;

const LINKS: &str = "/api/inventory/materials/{id}/links";
const NO_LINK: &str = "The material is not linked to that system.";

handles! {
    /// Dependencies of the stock link routes.
    pub struct LinkHandles {
        materials: Directory<Material>,
        boards: StockSystemStatuses,
    }
}

/// Returns the stock link routes.
pub fn routes() -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    let about = "Materials that are also counted in another system. Changes on either side are synchronised.";
    ResourceRoutes::new("Stock links", about, "material")
        .get(operator, "/api/inventory/stock-links", show, |op| {
            op.named("getStockLinks", "List stock links and the states of the external systems")
        })
        .get(operator, "/api/inventory/stock-entries", entries, |op| {
            op.named("listStockEntries", "List entries that materials can be linked to")
                .about("Returns the entries as last read from the external systems.")
        })
        .post(operator, "/api/inventory/stock-links/look", look, |op| {
            op.named("lookAtStock", "Synchronise stock now")
                .about("Synchronisation also runs automatically every `stock_sync.interval_seconds`.")
                .unkeyed()
        })
        .post(operator, LINKS, link, |op| {
            op.named("linkMaterial", "Link a material to an entry of another system")
                .about(
                    "A new link is a preview: it shows the counts on both sides and changes nothing until an operator \
                     decides which side is correct.",
                )
                .error(409, "already_linked", "The material is already linked to another entry of that system.")
                .error(409, "entry_linked", "Another material is already linked to this entry.")
        })
        .post(operator, "/api/inventory/materials/{id}/links/{system}/agree", agree, |op| {
            op.named("agreeOnStock", "Resolve a stock conflict")
                .about(
                    "Decides which side is correct, for a new link or one with a conflict. `theirs` is the count that \
                     the decision is based on. For consumption that a printer's own server did not record \
                     (`print_not_booked`), `ours` records it in the external system, and `theirs` keeps the count \
                     there.",
                )
                .error(404, "link_not_found", NO_LINK)
                .error(409, "theirs_changed", "The count in the external system has changed since the caller read it.")
                .error(409, "nothing_to_decide", "No count has been read yet, or an update is in progress.")
        })
        .delete(operator, "/api/inventory/materials/{id}/links/{system}", unlink, |op| {
            op.named("unlinkMaterial", "Remove a link").about("Earlier updates are kept on both sides.").error(
                404,
                "link_not_found",
                NO_LINK,
            )
        })
}

enumeration! {
    /// State of the link between a material and an external entry.
    LinkState,
}

/// Entry in an external stock system to link a material to.
#[derive(Request, Debug)]
#[api(example = json!({"system": "parts", "entryId": 12}))]
pub struct NewLink {
    /// External stock system.
    system: StockSystem,
    /// Number of the part or filament in the external system.
    entry_id: i64,
}

/// Operator's decision on a link.
#[derive(Request, Debug)]
#[api(example = json!({"right": "theirs", "theirs": 2000}))]
pub struct Agreement {
    /// Side whose stock is correct.
    right: RightSide,
    /// Count in the external system on which the decision is based; the decision is rejected if the count has changed
    /// since then. Defaults to the last count read.
    theirs: Option<Amount>,
}

/// Query parameters for listing entries.
#[derive(Request, Debug)]
pub struct EntryQuery {
    /// Return only entries in the given system.
    system: Option<StockSystem>,
    /// Return only entries whose name contains the given text.
    q: Option<String>,
    /// `true`: return only entries that are linked to a material. `false`: return only entries that are not.
    linked: Option<bool>,
    #[api(flatten)]
    page: PageQuery,
}

/// The `{system}` path parameter. An unknown system results in a 404 error.
struct PathSystem(StockSystem);

impl<S: Send + Sync> FromRequestParts<S> for PathSystem {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let text = params.iter().flatten().find(|(name, _)| *name == "system").map(|(_, text)| text.to_owned());
        let system = text.and_then(|text| serde_json::from_value(text.into()).ok());
        system.map(Self).ok_or_else(|| Refusal::not_found("link").into())
    }
}

impl Argument for PathSystem {}

/// Returns all materials that are not deleted, by ID.
fn materials_by_id(app: &LinkHandles) -> BTreeMap<Id, Material> {
    let all = app.materials.all_present();
    all.iter().filter_map(|state| state.present().cloned()).map(|material| (material.id, material)).collect()
}

async fn show(State(app): State<LinkHandles>) -> Result<Plain<LinksView>, ApiError> {
    let all = materials_by_id(&app);
    let mut links: Vec<LinkView> =
        all.values().flat_map(|material| material.links.values().map(|link| LinkView::new(material, link))).collect();
    links.sort_by(|a, b| {
        let order = |link: &LinkView| (link.conflict.is_none(), link.material_name.clone(), link.system);
        order(a).cmp(&order(b))
    });
    let system = |system: StockSystem| {
        let StockSystemState { on, looked_at, synchronised_at, error, entries } = app.boards.of(system).state();
        let of_it = || links.iter().filter(|link| link.system == system);
        SystemView {
            system,
            on,
            looked_at,
            synchronised_at,
            error,
            entries: entries.len(),
            links: of_it().count(),
            conflicts: of_it().filter(|link| link.conflict.is_some()).count(),
        }
    };
    let systems = StockSystem::ALL.map(system).into();
    Ok(Plain(LinksView { systems, links }))
}

async fn entries(
    State(app): State<LinkHandles>,
    Query(query): Query<EntryQuery>,
) -> Result<ListPage<StockEntryView>, ApiError> {
    let all = materials_by_id(&app);
    let mut views = Vec::new();
    for system in
        StockSystem::ALL.into_iter().filter(|system| query.system.is_none_or(|requested| requested == *system))
    {
        let linked: BTreeMap<i64, Id> =
            all.iter().filter_map(|(id, material)| Some((material.links.get(&system)?.entry, *id))).collect();
        let free: Vec<(String, Id)> = all
            .iter()
            .filter(|(_, material)| !material.links.contains_key(&system))
            .map(|(id, material)| (material.fields.name.to_lowercase(), *id))
            .collect();
        for entry in app.boards.of(system).state().entries.iter() {
            let material_id = linked.get(&entry.number).copied();
            let name = entry.name.to_lowercase();
            let suggested = free.iter().find(|(material_name, _)| name.contains(material_name)).map(|(_, id)| *id);
            views.push(StockEntryView {
                system,
                entry_id: entry.number,
                name: entry.name.clone(),
                material_id,
                suggested_material_id: suggested.filter(|_| material_id.is_none()),
            });
        }
    }
    let search_text = query.q.map(|text| text.to_lowercase());
    views.retain(|entry: &StockEntryView| {
        search_text.as_ref().is_none_or(|text| entry.name.to_lowercase().contains(text))
            && query.linked.is_none_or(|linked| linked == entry.material_id.is_some())
    });
    let page = query.page.into();
    let (items, total) = cut(page, views);
    Ok(ListPage::new(page, items, total))
}

async fn look(
    State(app): State<LinkHandles>,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<NoContent, ApiError> {
    call.read_body()?;
    StockSystem::ALL.into_iter().for_each(|system| app.boards.of(system).look_now());
    Ok(NoContent)
}

async fn link(
    State(app): State<LinkHandles>,
    PathId(id): PathId,
    call: CommandRequest<NewLink>,
) -> Result<Created<LinkView>, ApiError> {
    let command = async {
        let NewLink { system, entry_id: entry } = call.read_body()?;
        let board = app.boards.of(system).state();
        let stock_entry = board.entries.iter().find(|candidate| candidate.number == entry);
        match stock_entry {
            Some(stock_entry) => Ok(LinkCommand::Link { system, entry, name: stock_entry.name.clone() }),
            // Not all were read, so the number alone counts; the first look tells its name, or that there is none.
            None if board.on && board.may_have_more() => {
                let name = format!("number {entry}");
                Ok(LinkCommand::Link { system, entry, name })
            }
            None if board.on => {
                Err(Refusal::field("entryId", "no such entry was found in that system; synchronise again if it is new")
                    .into())
            }
            None => Err(Refusal::field("system", "this system is not configured").into()),
        }
    };
    let done = call.ask_with(&app.materials, CommandTarget::Id(id), command).await?;
    let view = LinkView::after(&done);
    app.boards.of(view.system).look_now();
    let location = "/api/inventory/stock-links".to_owned();
    Ok(Created::unversioned(location, &done, view))
}

/// Sets the side whose stock is correct, and synchronises with the external system.
pub async fn resolve_conflict(
    app: &LinkHandles,
    material: Id,
    system: StockSystem,
    call: &CommandRequest<Agreement>,
) -> Result<CommandOutcome<LinkAnswer>, ApiError> {
    let command = async {
        let Agreement { right, theirs } = call.read_body()?;
        Ok(LinkCommand::Agree { system, right, theirs })
    };
    let done = call.ask_with(&app.materials, CommandTarget::Id(material), command).await?;
    app.boards.of(system).look_now();
    Ok(done)
}

async fn agree(
    State(app): State<LinkHandles>,
    PathId(id): PathId,
    PathSystem(system): PathSystem,
    call: CommandRequest<Agreement>,
) -> Result<Resource<LinkView>, ApiError> {
    let done = resolve_conflict(&app, id, system, &call).await?;
    Ok(Resource::after(&done, LinkView::after(&done)))
}

async fn unlink(
    State(app): State<LinkHandles>,
    PathId(id): PathId,
    PathSystem(system): PathSystem,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    call.ask(&app.materials, CommandTarget::Id(id), UnlinkStock(system)).await?;
    Ok(NoContent)
}
