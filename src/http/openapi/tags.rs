//! Tags shared by several resources.

/// OpenAPI tag for operations on the server itself.
pub const SYSTEM: &str = "System";
/// Description of the tag [`SYSTEM`].
pub const SYSTEM_ABOUT: &str = "Health checks, actors, metrics and this description.";
/// OpenAPI tag for operations on endpoints and deliveries.
pub const WEBHOOKS: &str = "Webhooks";
