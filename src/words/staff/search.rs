//! Messages for the shop-wide search.

use crate::messages;

messages! {
    "staff/search":

    title;
    field;
    search;

    printers;
    spools;
    materials;
    of_order(number: &str);
    all_orders;
    all_jobs;
    all_printers;
    all_slots;
    all_materials;
    all_products;
    all_customers;
    search_jobs;

    none_match(text: &str);
    hint;
}
