//! Messages for the quote pages: list, details with costs, drafts, new quotes, actions.

use crate::messages;

messages! {
    "staff/quotes":

    title;
    requests_link;
    requests_link_new(count: u64);
    new_quote;
    filter_label;
    all;
    email_filter;
    search;
    none_match;
    show_all;
    none_yet;
    quote_column;
    status_column;
    customer_column;
    created_column;
    valid_column;
    total_column;
    order_failed_mark;

    status_draft;
    status_sent;
    status_accepted;
    status_declined;
    status_expired;

    all_quotes;
    quote_title(number: &str);
    glance;
    order_failed;
    customer;
    no_customer;
    request;
    view_request;
    order;
    view_order;
    created;
    sent_at;
    answered_at;
    decline_reason;
    valid_until;
    shipping_address;
    notes;

    lines;
    lines_label;
    description_column;
    quantity_column;
    price_column;
    amount_column;
    subtotal;
    shipping;
    tax(rate: &str);
    total;
    from_sku;
    printed_without_sku;
    not_printed;
    model(size: &str, material: &str, machine: &str);
    no_material;
    work_sliced(grams: &str, span: &str);
    work_before_slicing(grams: &str, span: &str);
    work_of_volume(grams: &str, span: &str);
    work_slicing_failed(grams: &str, span: &str);
    priced_by_hand;

    costs;
    costs_label;
    line_column;
    material_column;
    energy_column;
    wear_column;
    labour_column;
    failures_column;
    costs_column;
    margin_column;
    actual(grams: &str, span: &str);
    actual_so_far(grams: &str, span: &str);
    costs_note;

    edit_draft;
    edit_head;
    email_field;
    valid_field;
    valid_hint;
    notes_field;
    address_legend;
    save;
    description_field;
    description_hint;
    quantity_field;
    price_field;
    price_hint;
    source_field;
    source_none;
    source_later;
    source_sku(code: &str, name: &str);
    source_model(name: &str);
    current_value;
    model_options;
    material_field;
    material_later;
    machine_field;
    usual_machine;
    profile_field;

    responds_to(request: &str, customer: &str);
    a_request;
    by_model;
    by_model_text;
    model_file_field;
    create_from_model;
    by_hand;
    by_hand_text;
    currency_field;
    currency_hint;
    create_draft;

    actions;
    unchangeable;
    send;
    send_text(email: &str);
    send_needs_email;
    delete;
    delete_text;
    withdraw_heading;
    withdraw_text;
    reason_field;
    withdraw(number: &str);
}
