//! Tags that the description itself uses, beside the resources that they are of.

/// OpenAPI tag of the operations on the server itself.
pub const SYSTEM: &str = "System";
/// Description of the tag [`SYSTEM`].
pub const SYSTEM_ABOUT: &str = "Health checks, actors, metrics and this description.";
/// OpenAPI tag of the operations on endpoints and deliveries.
pub const WEBHOOKS: &str = "Webhooks";
