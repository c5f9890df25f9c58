//! Messages for the frame of all staff pages, with elapsed times and the messages of its script.

use crate::messages;

messages! {
    "staff/shell":

    skip_link;
    pages;
    main_pages;
    group_work;
    group_shop;
    group_reports;
    to_do;
    floor;
    orders;
    jobs;
    stock;
    products;
    customers;
    quotes;
    invoices;
    insights;
    settings;
    webhooks;
    more;
    needing_attention;
    open_tasks;

    search;
    search_whole_shop;
    whole_shop;

    account;
    admin;
    operator;
    my_account;
    change_password;
    api_documentation;
    sign_out;

    connection_lost;
    live;
    offline;
    floor_summary;
    count_printing(count: &str);
    printers_printing(count: usize, number: &str);
    count_ready(count: &str);
    count_needing_attention(count: &str);
    count_offline(count: &str);
    next_free(time: &str);

    minutes(minutes: &str);
    hours(hours: &str, minutes: &str);
    elapsed(span: &str);
    elapsed_under_minute;
    left(span: &str);
    left_under_minute;

    done;
    failed;
    silent;
    keep_holding(action: &str);
}
