//! Messages for the to-do page: kinds of tasks, and their rows.

use crate::messages;

messages! {
    "staff/to_do":

    title;
    tasks(count: u64);
    heading(title: &str, count: u64);
    caught_up;
    caught_up_text;
    open_floor;

    kind_restored;
    kind_seller;
    kind_beds;
    kind_parts;
    kind_unverified;
    kind_paused;
    kind_troubles;
    more_out_of_service(count: usize);
    kind_late;
    kind_emails;
    kind_failed;
    kind_review;
    kind_spools;
    kind_waiting;
    kind_counts;
    kind_stock;
    kind_pack;
    kind_flagged;
    kind_due;
    kind_unpaid;

    restored;
    restored_text;
    review_restore;
    no_invoices;
    open_setup;
    seller_gaps(gaps: &str);
    gap_name;
    gap_street;
    gap_city;
    gap_country;
    gap_vat_id;
    gap_tax_number;
    did_it_print(job: &str, printer: &str);
    paused_by_person;
    paused_by_detection;
    paused_at_printer;
    paused_by_printer(message: &str);
    mark_checked;
    view_details;
    view_job;
    open;
    open_order(order: &str);
    late_orders(count: u64);

    printers_freed(count: usize);
    jobs_waiting(count: usize);
    freed_and_waiting(printers: &str, jobs: &str);
    jobs_waiting_for_bed(count: usize);
    select_all;
    beds_clear;
    select(printer: &str);
    print_failed;
    bed_clear;
    promised_for(time: &str);
    parts_on_plate(count: u32);
    all_good;

    retry;
    cancel;
    release;
    stock_left(available: &str, point: &str);
    stock_without_level(available: &str);
    to_order(amount: &str);
    load(material: &str, printer: &str);
    load_spool_into(printer: &str);
    into_printer(printer: &str);
    more_printers(count: usize);
    load_spool;
    jobs_can_start(count: usize);
    jobs_need_more(count: usize);
    more_jobs(count: usize);
    confirm(material: &str);
    unlinked_spool(slot: &str, spool: &str);
    group(product: &str, count: usize);
    show_jobs(count: usize);

    next_hours;
    beds_until(time: &str);
    beds_until_midnight;
    no_beds;
    spools_to_change;
    no_spools;
    spool_by(material: &str, printer: &str, time: &str);
    orders_today;
    late_among(count: usize);
    no_orders;
    further(count: usize);
    others(count: usize);

    done_heading;
    done_since(time: &str);
    done_nothing;
    done_by(person: &str, work: &str);
    done_parts(good: u64, parts: u64);
    done_bad(bad: u32, parts: u32);
    done_bad_reason(bad: u32, parts: u32, reason: &str);
    done_beds(count: usize);
    done_deliveries(count: usize);
    done_shipments(count: usize);
    activity_nothing;
}
