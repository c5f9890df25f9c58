//! Nested objects in products: additional materials, and kit components.

use api_derive::Request;
use serde_json::json;

use crate::wire::{AboveZero, Within};
use domain::amount::Amount;
use domain::id::Id;
use domain::sku::{Component, SkuMaterial};

/// Material ID used in examples.
const EXAMPLE_MATERIAL: &str = "01890a5d-ac96-774b-bcce-b302099a8061";
/// Product ID used in examples.
const EXAMPLE_SKU: &str = "01890a5d-ac96-774b-bcce-b302099a8063";
/// Maximum index of a filament in a file.
const MAX_FILAMENT: u32 = 1000;
/// Maximum number of parts of a component per set.
const MAX_PER_SET: u32 = 10_000;

/// Additional material of a product.
#[derive(Request)]
#[api(name = "SkuMaterial", fields = SkuMaterial, example = json!({
    "materialId": EXAMPLE_MATERIAL, "estimatedConsumption": 4.5, "filament": 1,
}))]
struct GivenMaterial {
    /// Material of the filament.
    material_id: Id,
    /// Consumption for one full plate, in the material's unit, if the file does not specify it; at most three decimals.
    #[api(AboveZero)]
    estimated_consumption: Amount,
    /// Index of the filament in the file, starting at 0.
    #[api(Within(0..=MAX_FILAMENT))]
    filament: u32,
}

record!(SkuMaterial, GivenMaterial);

/// Component of a kit.
#[derive(Request)]
#[api(name = "Component", fields = Component, example = json!({"skuId": EXAMPLE_SKU, "quantity": 2}))]
struct GivenComponent {
    sku_id: Id,
    /// Number of parts per set.
    #[api(Within(1..=MAX_PER_SET))]
    quantity: u32,
}

record!(Component, GivenComponent);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ToSchema as _;
    use crate::wire::written::written;

    #[test]
    fn requests_are_read_as_the_schema_says() {
        assert_eq!(written(GivenMaterial::schema()), written(SkuMaterial::schema()));
        assert_eq!(GivenMaterial::example(), SkuMaterial::example());
        assert_eq!(written(GivenComponent::schema()), written(Component::schema()));
        assert_eq!(GivenComponent::example(), Component::example());
    }
}
