//! API resources: [`production`] for the shop's staff and programs, [`billing`] for its
//! customers.

pub mod billing;
pub mod production;

use http::openapi::half::Half;
use http::operation::DescribedResource;
use http::routes::ResourceRoutes;

/// Returns all resources in one half of the API, in the order in which its description lists them.
pub fn resources(half: Half) -> Vec<DescribedResource> {
    let resources = match half {
        Half::Production => production::resources(false),
        Half::Billing => billing::resources(),
    };
    resources.into_iter().map(ResourceRoutes::resource).collect()
}
