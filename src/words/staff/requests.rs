//! Messages for the custom request pages: list, details, actions.

use crate::messages;

messages! {
    "staff/requests":

    title;
    status_field;
    all;
    search_field;
    show;
    none_match;
    show_all;
    none_yet;
    request_column;
    status_column;
    customer_column;
    received_column;
    photos_column;
    estimate_column;

    status_new;
    status_quoted;
    status_accepted;
    status_declined;
    status_closed;

    all_quotes;
    all_requests;
    request_title(name: &str);
    glance;
    customer;
    phone;
    received;
    received_at(time: &str, site: &str);
    estimate_valid;
    internal_notes;
    photos;
    photos_of_closed;
    photo_heic(number: u32);
    photo_of(number: u32, name: &str);

    details;
    product;
    subject;
    style;
    size;
    base;
    colours;
    uv_coating;
    uv_yes;
    uv_no;
    addons;
    inscription;
    customer_notes;

    estimate;
    unlisted;
    total;
    quotes;
    no_quotes;

    actions;
    is_closed;
    create_quote;
    create_other_quote;
    edit;
    no_change;
    save;
    close_heading;
    close_text;
    close(name: &str);
}
