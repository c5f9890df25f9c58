//! Checklist that guides a new shop until it can print its first order.

use maud::{Markup, html};

use super::printer_form::NEW_PRINTER_PATH;
use super::shell::Tone;
use super::{ORDERS_PATH, PRODUCTS_PATH, STOCK_PATH};

/// Steps in order: action, path, and reason.
const STEPS: [(&str, &str, &str); 3] = [
    ("Add a printer", NEW_PRINTER_PATH, "By its address; an admin can also look for those in your network."),
    ("Add a material", STOCK_PATH, "What your printers print with, and how much of it is there."),
    ("Add a SKU", PRODUCTS_PATH, "What you sell: its file, its material and its price."),
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
            h2 id="first-steps-title" { "First steps" }
            p { "This shop is new. It takes three things until it prints; what is left to do then stands here by itself." }
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
                "Then an order that is paid (" a href=(ORDERS_PATH) { "orders" } ", or the API) is printed by itself. To look at a shop that "
                "is busy first, run " code { "printfloor demo" } ": it needs no printers, and touches nothing of this shop."
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
