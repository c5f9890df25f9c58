//! `GET /api/v1/store/catalog`: the shop's products, from its catalogue provider. Responses are cached for a minute,
//! and the last successful response is served while the provider is unavailable.

mod provider;

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response as HttpResponse};
use serde::Serialize;
use serde_json::json;

use super::blocked::UnblockedCaller;
use super::reply::Success;
use super::site::RequestSite;
use actors::app::App;
use actors::app::shops::{catalog_currency, circuit};
use config::Config;
use domain::catalog::{Catalog, CatalogCollection, CatalogFilter, CatalogItem, MAX_FEATURED};
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::error::ApiError;
use http::handler::Reply;
use http::handles::handles;
use http::operation::DescribedOperation;
use http::page::OpenQuery;
use http::reply::Plain;
use http::resource_state::ResourceState;
use http::routes::ResourceRoutes;
use http::wire::{Components, Within};
use kernel::environment::Environment;
use provider::{LocalCatalog, StorefrontCatalog};
use services::catalog_cache::{CatalogCache, CatalogProvider};
use services::circuit::Circuit;

const CACHING: &str = "public, max-age=60, s-maxage=120, stale-while-revalidate=300";

handles! {
    /// Dependencies of the catalogue routes.
    pub struct CatalogHandles {
        catalog: Arc<SharedCatalog>,
        environment: Arc<Environment>,
    }
}

/// Returns the catalogue routes.
pub fn routes() -> ResourceRoutes {
    ResourceRoutes::new("Catalog", "Products that the shop sells; public.", "item").get(
        RequiredAccess::Open,
        "/api/v1/store/catalog",
        show,
        |op| {
            op.named("getCatalog", "Retrieve the catalogue")
                .about("Sorted newest first. Responses can be cached for up to a minute.")
                .error(503, "catalog_unavailable", "The provider does not respond, and no earlier response is cached.")
        },
    )
}

/// Filter for the catalogue.
#[derive(Request, Debug)]
pub struct CatalogQuery {
    /// Comma-separated slugs of collections. Returns items that are in any of the collections.
    collection: Option<String>,
    /// Slug or ID of an item, or `true` for the newest items.
    featured: Option<String>,
    /// Maximum number of items. Applies only with `featured=true`.
    #[api(Within(1..=MAX_FEATURED as u64))]
    limit: Option<u64>,
}

/// Products that the shop sells.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CatalogResponse", example = json!({
    "success": true, "source": "local", "generatedAt": "2026-11-02T10:00:00.000Z",
    "items": [{
        "id": crate::production::skus::EXAMPLE_ID, "slug": "vase-01", "title": "Vase", "description": null,
        "priceCents": 1250, "currency": "usd", "images": [], "collections": ["home"],
        "publishedAt": "2026-11-01T08:00:00.000Z", "skuId": crate::production::skus::EXAMPLE_ID,
    }],
    "collections": [{"id": "home", "slug": "home", "title": "Home"}],
}))]
struct CatalogReply {
    success: Success,
    /// Identifier of the catalogue's provider.
    source: String,
    /// Time at which the catalogue was read from the provider.
    generated_at: Timestamp,
    /// Items that match the filter.
    items: Vec<CatalogItem>,
    /// All collections of the catalogue, regardless of the filter.
    collections: Vec<CatalogCollection>,
}

/// Response that clients and proxies may cache for a minute.
struct Cacheable<R>(R);

impl<R: IntoResponse> IntoResponse for Cacheable<R> {
    fn into_response(self) -> HttpResponse {
        let mut response = self.0.into_response();
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHING));
        response
    }
}

impl<R: Reply> Reply for Cacheable<R> {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        R::describe(operation, components);
    }
}

async fn show(
    State(app): State<CatalogHandles>,
    _: UnblockedCaller,
    RequestSite(_): RequestSite,
    OpenQuery(query): OpenQuery<CatalogQuery>,
) -> Result<Cacheable<Plain<CatalogReply>>, ApiError> {
    let recent = app.catalog.0.recent(app.environment.now()).await;
    let catalog = recent
        .map_err(|error| ApiError::unavailable("catalog_unavailable", error.to_string(), error.retry_after_seconds))?;
    let CatalogQuery { collection, featured, limit } = &query;
    let filter = CatalogFilter { collection: collection.as_deref(), featured: featured.as_deref(), limit: *limit };
    let items = catalog.select(filter);
    let Catalog { source, generated_at, collections, .. } = &*catalog;
    let (source, generated_at, collections) = (source.clone(), *generated_at, collections.clone());
    Ok(Cacheable(Plain(CatalogReply { success: Success, source, generated_at, items, collections })))
}

/// Catalogue of the shop, which all requests share.
pub struct SharedCatalog(CatalogCache);

impl ResourceState for SharedCatalog {
    fn create(app: &App, config: &Config) -> Self {
        let queries = app.queries.clone();
        let provider: Box<dyn CatalogProvider> = match &app.storefront {
            Some(storefront) => Box::new(StorefrontCatalog {
                storefront: storefront.clone(),
                circuit: Circuit::new(circuit(config)),
                currency: catalog_currency(config).to_owned(),
                queries,
            }),
            None => Box::new(LocalCatalog { queries }),
        };
        Self(CatalogCache::new(provider, &config.server.data_dir, app.redis.clone()))
    }
}
