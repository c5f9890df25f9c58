//! Checklist that guides a new shop until it can print its first order.

use maud::{Markup, html};

use super::printer_form::NEW_PRINTER_PATH;
use super::shell::Tone;
use super::{ORDERS_PATH, PRODUCTS_PATH, STOCK_PATH};
use crate::frame::{NEXT_SLOT, SLOT, with_parts};
use words::Language;
use words::staff::common;

/// Text in the language of the page.
type StepText = fn(Language) -> String;

/// Steps in order: action, path, and reason.
const STEPS: [(StepText, &str, StepText); 3] = [
    (common::add_printer, NEW_PRINTER_PATH, common::add_printer_text),
    (common::add_material, STOCK_PATH, common::add_material_text),
    (common::add_sku, PRODUCTS_PATH, common::add_sku_text),
];

/// Renders the checklist. `has` states whether the shop has printers, materials and SKUs. Returns `None` once it has
/// all three.
pub(super) fn first_steps(language: Language, has: [bool; 3]) -> Option<Markup> {
    if has.iter().all(|done| *done) {
        return None;
    }
    let next = has.iter().position(|done| !done);
    let (orders, command) = (common::first_orders(language), html! { code { "printfloor demo" } });
    let orders = html! { a href=(ORDERS_PATH) { (orders) } };
    Some(html! {
        section class="card" id="first-steps" aria-labelledby="first-steps-title" {
            h2 id="first-steps-title" { (common::get_started(language)) }
            p { (common::get_started_text(language)) }
            ol class="rows" {
                @for (n, ((title, path, about), done)) in STEPS.into_iter().zip(has).enumerate() {
                    li {
                        @if done {
                            span { (title(language)) } span class=(Tone::Working.class()) { (common::step_done(language)) }
                        } @else {
                            a class=[(next == Some(n)).then_some("button")] href=(path) { (title(language)) }
                            span class=(Tone::Attention.class()) { (common::step_to_do(language)) }
                        }
                        span class="full soft" { (about(language)) }
                    }
                }
            }
            p class="soft" { (with_parts(&common::get_started_note(language, SLOT, NEXT_SLOT), &[&orders, &command])) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_thing_that_is_missing_stands_out() {
        let words = first_steps(Language::English, [true, false, false]).map(Markup::into_string).unwrap_or_default();
        assert_eq!((words.matches(">Done<").count(), words.matches(">To do<").count()), (1, 2), "{words}");
        assert_eq!(words.matches("class=\"button\"").count(), 1, "{words}");
        assert!(words.contains("<a class=\"button\" href=\"/shop/stock\">Add a material</a>"), "{words}");
        assert!(words.contains("printfloor demo"), "{words}");
    }

    #[test]
    fn a_shop_that_has_all_is_not_new() {
        assert!(first_steps(Language::English, [true; 3]).is_none());
    }
}
