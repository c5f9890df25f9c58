//! Amounts of stock on pages: their units and decimals.

use super::{OPERATOR, is_sound, operator};
use crate::support::{App, Db};

#[tokio::test]
async fn stock_from_10_kg_on_is_in_kilograms_with_the_colour_of_its_name_and_without_a_level_of_zero() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    // Black is what programs write where nobody has chosen a colour.
    let id = app.material("PLA Orange", 40_342.0).await;
    let list = sam.get("/shop/stock").await;
    is_sound(&list);
    let row = list.text.split_once("<tbody>").unwrap_or_else(|| panic!("{}", list.text)).1;
    for part in [">40.3 kg</td>", ">No reorder point</span>", "no reorder point</span>", "fill=\"#f57c1f\""] {
        assert!(row.contains(part), "{part} in {row}");
    }
    assert!(!row.contains("40342 g") && !row.contains(">0 g</td><td class=\"desk\""), "{row}");
    let page = sam.get(&format!("/shop/stock/materials/{id}")).await;
    // The ledger has all decimals; what is typed is grams.
    for part in ["<dd>40.3 kg</dd>", ">No reorder point<", ">+40.342 kg</td>", "Amount received (g)"] {
        assert!(page.text.contains(part), "{part} in {}", page.text);
    }
}

#[tokio::test]
async fn amounts_in_a_column_of_the_list_have_one_unit_and_each_gram_in_their_titles() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    for (name, grams) in [("PLA Orange", 40_342.0), ("PLA Blue", 250.0)] {
        app.material(name, grams).await;
    }
    let list = sam.get("/shop/stock").await;
    is_sound(&list);
    for part in [
        " title=\"40.342 kg\">40.34 kg</td>",
        " title=\"250 g\">0.25 kg</td>",
        ">0 g</td>",
        "0.25 kg on hand, 0 g reserved, no reorder point</span>",
    ] {
        assert!(list.text.contains(part), "{part} in {}", list.text);
    }
    assert!(!list.text.contains(">250 g<"), "{}", list.text);
}
