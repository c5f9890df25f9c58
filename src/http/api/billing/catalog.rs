//! `GET /api/v1/store/catalog`: the shop's products, from its catalogue provider. Responses are cached for a minute,
//! and the last successful response is served while the provider is unavailable.

mod cache;
mod provider;

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response as HttpResponse};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::blocked::UnblockedCaller;
use super::reply::Success;
use super::site::RequestSite;
use actors::app::App;
use actors::app::shops::{catalog_currency, circuit};
use config::Config;
use domain::id::Id;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::error::ApiError;
use http::handles::handles;
use http::openapi::operation::DescribedOperation;
use http::page::OpenQuery;
use http::reply::Plain;
use http::resource_state::ResourceState;
use http::routes::ResourceRoutes;
use http::wire::{Components, Reply, Within};
use kernel::environment::Environment;
use services::circuit::Circuit;

pub use cache::CatalogCache;
pub use provider::{CatalogProvider, LocalCatalog, StorefrontCatalog};

/// Default and maximum value of `limit` for `featured=true`.
const MAX_FEATURED: usize = 12;

const CACHING: &str = "public, max-age=60, s-maxage=120, stale-while-revalidate=300";

handles! {
    /// Dependencies of the catalogue routes.
    pub struct CatalogHandles {
        catalog: Arc<CatalogCache>,
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

/// Product in the catalogue.
#[derive(Clone, PartialEq, Eq, Debug, Response, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CatalogItem")]
pub struct CatalogItem {
    /// The provider's ID for the item.
    pub id: String,
    /// URL-friendly name of the item.
    pub slug: String,
    /// Display name of the item.
    pub title: String,
    /// Description shown to customers.
    pub description: Option<String>,
    /// Net unit price, in minor units of the currency.
    pub price_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    pub currency: String,
    /// URLs or file IDs of the item's images.
    pub images: Vec<String>,
    /// Slugs of the collections that contain the item.
    pub collections: Vec<String>,
    /// Time at which the item was put on sale.
    pub published_at: Timestamp,
    /// ID of the SKU to order for the item; null if the item cannot be ordered at the moment.
    pub sku_id: Option<Id>,
}

/// Group of catalogue items.
#[derive(Clone, PartialEq, Eq, Debug, Response, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CatalogCollection")]
pub struct CatalogCollection {
    /// The provider's ID for the collection.
    pub id: String,
    /// URL-friendly name of the collection.
    pub slug: String,
    /// Display name of the collection.
    pub title: String,
}

/// Catalogue as read from its provider.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Catalog {
    /// Identifier of the provider.
    pub source: String,
    /// Time at which the catalogue was read from the provider.
    pub generated_at: Timestamp,
    /// All items on sale, newest first.
    pub items: Vec<CatalogItem>,
    /// All non-empty collections, sorted by slug.
    pub collections: Vec<CatalogCollection>,
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
    let catalog = app.catalog.recent(app.environment.now()).await?;
    let items = chosen(&catalog, &query);
    let Catalog { source, generated_at, collections, .. } = &*catalog;
    let (source, generated_at, collections) = (source.clone(), *generated_at, collections.clone());
    Ok(Cacheable(Plain(CatalogReply { success: Success, source, generated_at, items, collections })))
}

impl ResourceState for CatalogCache {
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
        Self::new(provider, &config.server.data_dir, app.redis.clone())
    }
}

/// Returns the items that match the query.
fn chosen(catalog: &Catalog, query: &CatalogQuery) -> Vec<CatalogItem> {
    let requested: Vec<&str> = query
        .collection
        .as_deref()
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|one| !one.is_empty())
        .collect();
    let within =
        |item: &&CatalogItem| requested.is_empty() || item.collections.iter().any(|one| requested.contains(&&**one));
    let items = catalog.items.iter().filter(within);
    match query.featured.as_deref() {
        None => items.cloned().collect(),
        Some("true") => {
            let most = query.limit.map_or(MAX_FEATURED, |limit| limit as usize);
            items.take(most).cloned().collect()
        }
        Some(name) => items.filter(|item| item.slug == name || item.id == name).cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(slug: &str, collections: &[&str]) -> CatalogItem {
        CatalogItem {
            id: format!("id-{slug}"),
            slug: slug.to_owned(),
            title: slug.to_owned(),
            description: None,
            price_cents: 100,
            currency: "usd".to_owned(),
            images: Vec::new(),
            collections: collections.iter().map(|one| (*one).to_owned()).collect(),
            published_at: Timestamp(0),
            sku_id: None,
        }
    }

    fn catalog() -> Catalog {
        let items = vec![item("a", &["home", "new"]), item("b", &["garden"]), item("c", &[])];
        Catalog { source: "local".to_owned(), generated_at: Timestamp(0), items, collections: Vec::new() }
    }

    fn slugs(collection: Option<&str>, featured: Option<&str>, limit: Option<u64>) -> Vec<String> {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let query = CatalogQuery { collection: text(collection), featured: text(featured), limit };
        chosen(&catalog(), &query).into_iter().map(|item| item.slug).collect()
    }

    #[test]
    fn collections_and_featured_choose_and_limit_acts_with_the_newest_alone() {
        assert_eq!(slugs(None, None, Some(1)), ["a", "b", "c"]);
        assert_eq!(slugs(Some("new, garden"), None, None), ["a", "b"]);
        assert_eq!(slugs(None, Some("true"), Some(2)), ["a", "b"]);
        assert_eq!(slugs(Some("garden"), Some("true"), None), ["b"]);
        assert_eq!(
            (slugs(None, Some("c"), None), slugs(None, Some("id-b"), None)),
            (vec!["c".to_owned()], vec!["b".to_owned()])
        );
        assert!(slugs(Some("nothing"), None, None).is_empty());
    }
}
