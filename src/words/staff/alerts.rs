//! Messages for emails to the staff: alerts, which ask the operators to act.

use crate::messages;

messages! {
    "staff/alerts":

    staff_footer(shop: &str);

    endpoints_disabled(count: usize);
    jobs_failed(count: usize);
    low_stock_alerts(count: usize);
    stock_discrepancies(count: usize);
    unmatched_payments(count: usize);
    unsettled_orders(count: usize);
    flagged_orders(count: usize);
    late_orders(count: usize);
    flagged_printers(count: usize);
    custom_requests(count: usize);
    accounting_issues(count: usize);
    flagged_integrations(count: usize);
    failed_backups(count: usize);
    not_listed(count: usize);

    endpoint_link;
    job_link;
    stock_link;
    discrepancy_link;
    payments_link;
    orders_link;
    late_orders_link;
    printers_link;
    requests_link;
    postings_link;
    integrations_link;
    backup_link;

    endpoint_disabled_subject(attempts: &str, url: &str);
    endpoint_disabled(url: &str, reason: &str);

    job_failed_subject(job: &str, error: &str);
    job_failed(job: &str, product: &str, order: &str, error: &str);
    job_failed_advice;
    not_sliced_subject(job: &str);
    several_not_sliced_subject(job: &str, count: usize);
    not_sliced(product: &str, profile: &str, error: &str);

    low_stock_subject(name: &str, available: &str);
    low_stock(name: &str, available: &str, on_hand: &str, point: &str);
    short_stock(name: &str, available: &str, on_hand: &str);
    jobs_held;
    usual_order(amount: &str);
    discrepancy_subject(name: &str, missing: &str);
    used_beyond_stock(amount: &str, name: &str);
    reserved_beyond_stock(on_hand: &str, name: &str, reserved: &str);

    unmatched_money(kind: &str);
    unmatched_amount(kind: &str, amount: &str);
    unmatched_subject(money: &str);
    unmatched(money: &str, event: &str);
    unmatched_retries(days: &str);
    unmatched_names(names: &str);
    never_matched_subject(money: &str, days: &str);
    never_matched(event: &str, days: &str);
    never_matched_advice;

    flag_name(flag: &str);
    order_flag_subject(number: &str, flag: &str);
    order_flag(number: &str, reason: &str);
    invoice_flag_subject(name: &str, flag: &str);
    invoice_flag(invoice: &str, name: &str, reason: &str);
    not_ordered_subject(quote: &str);
    not_ordered(quote: &str, reason: &str);

    held_sale_subject(number: &str);
    held_sale;
    unmapped_variants(names: &str);
    conflict_subject(number: &str);
    conflict(number: &str, order: &str, reason: &str);
    unreported_shipment_subject(number: &str);
    unreported_shipment(shipment: &str, number: &str, order: &str, reason: &str);

    late_subject(number: &str);
    late_order(number: &str);
    late_order_of(number: &str, customer: &str);
    due_expected(order: &str, deadline: &str, expected: &str);
    due_unknown(order: &str, deadline: &str);
    promised_expected(order: &str, deadline: &str, expected: &str);
    promised_unknown(order: &str, deadline: &str);

    unreachable_subject(name: &str);
    unreachable(name: &str, reason: &str);
    last_response(at: &str);
    never_responded;
    job_held;
    leftover_subject(name: &str);
    leftover(name: &str, file: &str);
    fault_subject(name: &str);
    fault(name: &str, report: &str);
    suspicion_subject(name: &str);
    suspicion(percent: &str, name: &str);
    print_paused;
    print_not_paused;
    print_continues;

    maintenance_subject(printer: &str, task: &str);
    maintenance(task: &str, printer: &str, reason: &str);
    maintenance_blocks;
    maintenance_can_wait;
    hours_reached(done: &str, every: &str);
    prints_reached(done: &str, every: &str);
    grams_reached(done: &str, every: &str);
    failures_reached(done: &str, every: &str);

    request_subject(customer: &str, product: &str, total: &str);
    request(customer: &str, email: &str, product: &str, wishes: &str, photos: usize);
    wishes(subject: &str, style: &str, size: &str, base: &str, colors: u8);
    phone_line(text: &str);
    inscription_line(text: &str);
    notes_line(text: &str);
    estimate(total: &str, until: &str);
    unpriced(names: &str);
    request_advice;

    reconnect_subject;
    reconnect(reason: &str, url: &str);
    not_posted_subject(number: &str);
    not_posted(number: &str, error: &str);

    integration_subject(name: &str);
    integration(name: &str, reason: &str, url: &str);

    backup_subject;
    backup(reason: &str, url: &str);
}
