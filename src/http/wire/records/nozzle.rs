//! Printer nozzles, in requests.

use api_derive::Request;
use api_schema::shape::{Shape, above_zero};
use serde_json::json;

use crate::wire::{MaxChars, ONE_LINE, Rule};
use domain::bounds::{MAX_NOZZLE_MM, nozzle_mm};
use domain::printer::Nozzle;

/// Nozzle installed in the printer; files are sliced for a specific diameter.
#[derive(Request, Clone, Debug)]
#[api(name = "Nozzle", fields = Nozzle, example = json!({"diameter": 0.4, "kind": "brass"}))]
struct GivenNozzle {
    /// Diameter, in millimetres.
    #[api(NozzleWidth)]
    diameter: f64,
    /// Material of the nozzle, such as `brass` or `hardened steel`.
    #[api(ONE_LINE, MaxChars(50))]
    kind: Option<String>,
}

/// Validation rule for nozzle diameters: greater than 0 mm, with an upper bound.
struct NozzleWidth;

impl Rule<f64> for NozzleWidth {
    fn judge(&self, width: &f64) -> Result<(), String> {
        let message = || format!("must be a number of millimetres above 0, at most {MAX_NOZZLE_MM}");
        nozzle_mm(*width).map(|_| ()).ok_or_else(message)
    }
    fn mark(&self, _: Shape) -> Shape {
        above_zero(MAX_NOZZLE_MM)
    }
}

record!(Nozzle, GivenNozzle, |fields| Some(Nozzle { diameter: nozzle_mm(fields.diameter)?, ..fields }));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ToSchema as _;
    use crate::wire::written::written;

    #[test]
    fn requests_are_read_as_the_schema_says() {
        assert_eq!(written(GivenNozzle::schema()), written(Nozzle::schema()));
        assert_eq!(GivenNozzle::example(), Nozzle::example());
    }
}
