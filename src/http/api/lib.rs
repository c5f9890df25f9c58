//! Resources of both halves of the API: the shop's ([`production`]) and the customers' ([`billing`]).

pub mod billing;
pub mod production;

use http::openapi::half::Half;
use http::openapi::operation::DescribedResource;
use http::routes::ResourceRoutes;

/// Returns all resources of a half of the API in the order of its description.
pub fn resources(half: Half) -> Vec<DescribedResource> {
    let resources = match half {
        Half::Production => production::resources(false),
        Half::Billing => billing::resources(),
    };
    resources.into_iter().map(ResourceRoutes::resource).collect()
}
