//! Messages for the customers' pages: search and details.

use crate::messages;

messages! {
    "staff/customers":

    title;
    search_field;
    search;
    none_match(text: &str);
    show_all;
    none_match_hint;
    none_yet;
    email_column;
    name_column;
    company_column;
    phone_column;
    since_column;

    all_customers;
    profile;
    email;
    phone;
    company;
    vat_id;
    language;
    billing_address;
    billing_address_additional;
    shipping_address;
    shipping_address_additional;
    since;
    profile_note;
    spent;
    nothing_spent;
    spent_of_latest(latest: u64, all: u64);

    orders;
    all_orders;
    invoices;
    all_invoices;
    quotes;
    all_quotes;
    requests;
    all_requests;
    payments;
    none_of_these;
    payment_for(method: &str, record: &str);
    an_order;
    an_invoice;
    refunded_at(time: &str);
    refund_failed_at(time: &str);
}
