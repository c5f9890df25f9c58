//! Messages for the insights: key figures, findings, charts and their tables.

use crate::messages;

messages! {
    "staff/insights":

    period;
    period_days(days: i64);
    key_figures;
    better(change: &str, days: i64);
    worse(change: &str, days: i64);
    changed(change: &str, days: i64);
    same_as(days: i64);
    no_data_for(days: i64);
    no_data_among(days: i64, names: &str);
    points(change: &str);
    print_time;
    first_pass_yield;
    failure_rate;
    scrap_cost;
    lead_time_median;
    lead_time_most;

    empty_title;
    empty_choose;
    view_orders;
    open_floor;
    no_printers;
    sample_data(command: &str);
    add_printer;
    add_material;
    add_sku;

    findings_title;
    lowest_yield(printer: &str, share: &str, prints: i64);
    costliest_scrap(sku: &str, cost: &str, parts: i64);
    growing_reason(reason: &str, now: i64, earlier: i64, days: i64);
    quoted(text: &str);

    as_csv(title: &str);
    nothing_yet(names: &str);
    table_of(title: &str);
    empty_days(count: usize);
    number(count: i64);
    parts(count: i64);
    orders(count: i64);
    unknown;
    deleted;
    no_reason;
    up_to(span: &str);
    longer;
    seconds(seconds: i64);
    minutes(minutes: i64, seconds: i64);
    whole_hours(hours: i64);
    hours(hours: i64, minutes: i64);
    whole_days(days: i64);
    days(days: i64, hours: i64);

    day_column;
    finished_column;
    failed_column;
    cancelled_column;
    printer_column;
    utilisation_column;
    prints_column;
    reason_column;
    product_column;
    parts_column;
    good_column;
    bad_parts_column;
    time_column;
    material_column;
    cost_column;
    used_column;
    unit_column;
    orders_column;
    outcome_column;

    prints_title;
    prints_about;
    prints_scale(most: i64);
    utilisation_title;
    utilisation_about;
    failures_title;
    failures_about;
    first_pass_title;
    first_pass_about;
    scrap_title;
    scrap_about;
    scrap_reasons_title;
    scrap_reasons_about;
    material_title;
    material_about;
    lead_time_title;
    lead_time_about;
    promises_title;
    promises_about;
    promise_kept;
    promise_late;
}
