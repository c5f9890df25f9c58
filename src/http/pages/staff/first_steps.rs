//! Checklist that guides a new shop until it can print its first order.

use maud::{Markup, html};

use super::printer_form::NEW_PRINTER_PATH;
use super::shell::Tone;
use super::{ORDERS_PATH, PRODUCTS_PATH, STOCK_PATH};

/// Steps in order: action, path, and reason.
const STEPS: [(&str, &str, &str); 3] = [
    ("Add a printer", NEW_PRINTER_PATH, "Enter its address. Admins can also search your network."),
    ("Add a material", STOCK_PATH, "Filament, resin or sheets, and how much you have."),
    ("Add a SKU", PRODUCTS_PATH, "A product you sell, with its file, material and price."),
];

/// Renders the checklist. `has` states whether the shop has printers, materials and SKUs. Returns `None` once it has
/// all three.
pub(super) fn first_steps(has: [bool; 3]) -> Option<Markup> {
    if has.iter().all(|done| *done) {
        return None;
    }
    let next = has.iter().position(|done| !done);
    Some(html! {
        section class="card" id="first-steps" aria-labelledby="first-steps-title" {
            h2 id="first-steps-title" { "Get started" }
            p { "Set up three things before your first print. After that, this page lists your tasks." }
            ol class="rows" {
                @for (n, ((words, path, about), done)) in STEPS.into_iter().zip(has).enumerate() {
                    li {
                        @if done {
                            span { (words) } span class=(Tone::Working.class()) { "done" }
                        } @else {
                            a class=[(next == Some(n)).then_some("button")] href=(path) { (words) }
                            span class=(Tone::Attention.class()) { "to do" }
                        }
                        span class="full soft" { (about) }
                    }
                }
            }
            p class="soft" {
                "Paid " a href=(ORDERS_PATH) { "orders" } " then print automatically. To explore a busy shop first, run "
                code { "printfloor demo" } ". It needs no printers and doesn't change this shop."
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_thing_that_is_missing_stands_out() {
        let words = first_steps([true, false, false]).map(Markup::into_string).unwrap_or_default();
        assert_eq!((words.matches(">done<").count(), words.matches(">to do<").count()), (1, 2), "{words}");
        assert_eq!(words.matches("class=\"button\"").count(), 1, "{words}");
        assert!(words.contains("<a class=\"button\" href=\"/shop/stock\">Add a material</a>"), "{words}");
        assert!(words.contains("printfloor demo"), "{words}");
    }

    #[test]
    fn a_shop_that_has_all_is_not_new() {
        assert!(first_steps([true; 3]).is_none());
    }
}
