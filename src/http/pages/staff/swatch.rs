//! Swatch of a material's colour.

use maud::{Markup, html};

use domain::material::{MaterialFields, shown_color};

/// Renders the swatch of a material.
pub(super) fn material_swatch(fields: &MaterialFields) -> Markup {
    swatch(shown_color(fields.color.as_deref(), &fields.name))
}

/// Renders a swatch in a colour of the form `#rrggbb`, or striped if the colour is unknown.
pub(super) fn swatch(color: Option<&str>) -> Markup {
    html! {
        svg class="swatch" viewBox="0 0 16 16" aria-hidden="true" {
            circle cx="8" cy="8" r="7" fill=(color.unwrap_or("none")) stroke="currentColor" stroke-opacity="0.4" {}
            @if color.is_none() {
                path d="M4 12 12 4M2.5 8.5 8.5 2.5M7.5 13.5 13.5 7.5" stroke="currentColor" stroke-opacity="0.4" {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_colour_is_striped_and_never_black() {
        let unknown = swatch(None).into_string();
        assert!(unknown.contains("fill=\"none\"") && unknown.contains("<path"), "{unknown}");
        let orange = swatch(shown_color(None, "PLA orange")).into_string();
        assert!(orange.contains("fill=\"#f57c1f\"") && !orange.contains("<path"), "{orange}");
    }
}
