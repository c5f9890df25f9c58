//! Sales channels: other shops whose orders are produced here, and the mapping of their variants to SKUs.

mod import;
pub mod orders;
mod receive;
mod requests;
mod view;

use std::sync::Arc;

use axum::extract::State;
use serde_json::json;

use self::requests::{ChannelChangeRequest, ChannelRequest, VariantsRequest};
use self::view::{ChannelView, VariantView, VariantsView};
use config::Config;
use domain::channel_order::ChannelOrder;
use domain::customer::Customer;
use domain::principal::Role;
use domain::refusal::Faults;
use domain::sales_channel::{
    MapVariants, NewChannel, SalesChannel, SalesChannelAnswer, SalesChannelCommand, SalesChannelRemoval, VariantUpdate,
};
use domain::sku::Sku;
use http::access::{AccessHandles, RequiredAccess};
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget, RequestHandles, find_present};
use http::error::ApiError;
use http::handles::handles;
use http::openapi::shape::text;
use http::operation::DescribedBody;
use http::page::{PageQuery, Query, cut};
use http::path_id::{NamedId, PathId};
use http::reply::{Created, ListPage, NoContent, Plain, Resource};
use http::routes::ResourceRoutes;
use kernel::directory::Directory;
use kernel::environment::Environment;
use platform::secrets::encryption::SecretCipher;
use store::queries::Queries;

const PATH: &str = "/api/sales-channels";
const ONE: &str = "/api/sales-channels/{id}";
const VARIANTS: &str = "/api/sales-channels/{id}/variants";
/// Sales channel ID used in examples in the API description.
pub(super) const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8090";

handles! {
    /// Dependencies of the sales channel routes.
    pub struct ChannelHandles {
        channels: Directory<SalesChannel>,
        records: Directory<ChannelOrder>,
        customers: Directory<Customer>,
        skus: Directory<Sku>,
        queries: Queries,
        cipher: Arc<SecretCipher>,
        environment: Arc<Environment>,
        config: Arc<Config>,
        access: AccessHandles,
        request: RequestHandles,
    }
}

/// Returns the sales channel routes.
pub fn routes() -> ResourceRoutes {
    let [operator, admin] = [Role::Operator, Role::Admin].map(RequiredAccess::Role);
    let about = "Other shops whose orders are produced here. Their messages and files become paid orders through a \
                 mapping from their products to this shop's SKUs, and shipments are reported back to them.";
    ResourceRoutes::new("Sales channels", about, "sales_channel")
        .get(operator, PATH, list, |op| op.named("listSalesChannels", "List sales channels"))
        .post(admin, PATH, create, |op| {
            op.named("createSalesChannel", "Create a sales channel").about(
                "After creating the channel, enter `messagesUrl` in the other shop as the URL for its order webhooks.",
            )
        })
        .get(operator, ONE, one, |op| op.named("getSalesChannel", "Retrieve a sales channel"))
        .patch(admin, ONE, update, |op| {
            op.named("updateSalesChannel", "Update a sales channel")
                .about("Changing `baseUrl` removes the access token unless a new one is sent with it.")
        })
        .delete(admin, ONE, remove, |op| {
            op.named("deleteSalesChannel", "Remove a sales channel")
                .about("Messages from it are no longer accepted; its existing orders are kept.")
        })
        .get(operator, VARIANTS, variants, |op| {
            op.named("listVariants", "List variant mappings").about("Sorted by variant.")
        })
        .post(operator, VARIANTS, map, |op| {
            op.named("mapVariants", "Map variants to products")
                .about("Other mappings are kept. Orders that were on hold because of these mappings are created.")
        })
        .delete(operator, "/api/sales-channels/{id}/variants/{variantId}", unmap, |op| {
            op.named("unmapVariant", "Remove a variant mapping")
        })
        .post_long(operator, "/api/sales-channels/{id}/import", import::import, |mut op| {
            op.body = Some(DescribedBody {
                media: "text/csv",
                shape: text(),
                example: Some(json!(import::EXAMPLE)),
                optional: false,
            });
            op.named("importOrders", "Import orders from a file").about(import::ABOUT).unkeyed()
        })
        .post(RequiredAccess::Open, "/webhooks/sales-channels/{id}", receive::receive, receive::words)
}

fn channel_view(app: &ChannelHandles, done: &CommandOutcome<SalesChannelAnswer>) -> ChannelView {
    ChannelView::new(&done.answer.channel, done.version, &app.config)
}

async fn list(
    State(app): State<ChannelHandles>,
    Query(page): Query<PageQuery>,
) -> Result<ListPage<ChannelView>, ApiError> {
    let page = page.into();
    let (some, total) = app.queries.sales_channels(page).await?;
    let items = some
        .iter()
        .filter_map(|versioned| Some(ChannelView::new(versioned.state.as_ref()?, versioned.revision(), &app.config)));
    Ok(ListPage::new(page, items, total))
}

async fn one(State(app): State<ChannelHandles>, PathId(id): PathId) -> Result<Resource<ChannelView>, ApiError> {
    let (version, channel) = find_present(&app.channels, id).await?;
    Ok(Resource::new(version, ChannelView::new(&channel, version, &app.config)))
}

async fn create(
    State(app): State<ChannelHandles>,
    call: CommandRequest<ChannelRequest>,
) -> Result<Created<ChannelView>, ApiError> {
    let command = async {
        let new = call.read_body()?;
        Ok(SalesChannelCommand::Create(Box::new(NewChannel {
            kind: new.kind.0,
            name: new.name,
            site: new.site.map(|site| site.0),
            currency: new.currency,
            encrypted_secret: app.cipher.encrypt_or_empty(new.secret.as_deref().unwrap_or_default()),
            base_url: new.base_url,
            encrypted_token: app.cipher.encrypt_or_empty(new.access_token.as_deref().unwrap_or_default()),
        })))
    };
    let done = call.ask_with(&app.channels, CommandTarget::New, command).await?;
    Ok(Created::under(PATH, &done, channel_view(&app, &done)))
}

async fn update(
    State(app): State<ChannelHandles>,
    PathId(id): PathId,
    call: CommandRequest<ChannelChangeRequest>,
) -> Result<Resource<ChannelView>, ApiError> {
    let command = async {
        let change = call.read_body()?.change(&app.cipher, call.if_match());
        Ok(SalesChannelCommand::Update(Box::new(change)))
    };
    let done = call.ask_with(&app.channels, CommandTarget::Id(id), command).await?;
    Ok(Resource::after(&done, channel_view(&app, &done)))
}

async fn remove(
    State(app): State<ChannelHandles>,
    PathId(id): PathId,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    call.ask(&app.channels, CommandTarget::Id(id), SalesChannelRemoval::Archive).await?;
    Ok(NoContent)
}

async fn variants(
    State(app): State<ChannelHandles>,
    PathId(id): PathId,
    Query(page): Query<PageQuery>,
) -> Result<ListPage<VariantView>, ApiError> {
    let (_, channel) = find_present(&app.channels, id).await?;
    let page = page.into();
    let all: Vec<VariantView> = channel.variants.values().map(|entry| VariantView::from(&**entry)).collect();
    let (items, total) = cut(page, all);
    Ok(ListPage::new(page, items, total))
}

async fn map(
    State(app): State<ChannelHandles>,
    PathId(id): PathId,
    call: CommandRequest<VariantsRequest>,
) -> Result<Plain<VariantsView>, ApiError> {
    let command = async {
        let requested = call.read_body()?.variants;
        let mut faults = Faults::default();
        for (at, one) in requested.iter().enumerate() {
            let state = app.skus.read(one.sku_id).await?;
            let there = state.as_ref().is_some_and(|state| state.present().is_some());
            faults.check(there, &format!("variants.{at}.skuId"), "no such SKU");
        }
        faults.refuse()?;
        let requested = requested.into_iter();
        let variants =
            requested.map(|one| VariantUpdate { variant: one.variant, sku_id: one.sku_id, quantity: one.quantity });
        Ok(MapVariants(variants.collect()))
    };
    let done = call.ask_with(&app.channels, CommandTarget::Id(id), command).await?;
    Ok(Plain(VariantsView { variants: done.answer.variants.iter().map(Into::into).collect() }))
}

async fn unmap(
    State(app): State<ChannelHandles>,
    PathId(id): PathId,
    NamedId(entry): NamedId,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    call.ask(&app.channels, CommandTarget::Id(id), SalesChannelRemoval::Unmap(entry)).await?;
    Ok(NoContent)
}
