//! Messages for jobs: their list, their pages, and their rows on the page of an order.

use crate::messages;

messages! {
    "staff/jobs":

    title;
    all_orders;
    none_yet_title;
    none_yet_text;
    view_orders;
    none_match;
    show_all;
    status;
    filter_all;
    job_column;
    product_column;
    order_column;
    printer_column;
    priority;
    progress_column;
    progress_of(number: &str);
    ended(time: &str);
    search_field;
    all_printers;
    created_field;
    any_time;
    today;
    last_week;
    last_month;
    show;
    picture_column;

    state_created;
    state_validated;
    state_review;
    state_sliced;
    state_start_unverified;
    state_end_unverified;
    state_dispatching;
    state_printing;
    state_paused;
    state_unsigned;
    state_completed;
    state_failed;
    state_cancelled;

    no_answer(printer: &str);
    no_answer_since(printer: &str, time: &str);
    last_state(state: &str);

    job_title(number: &str);
    order_link;
    all_jobs;
    product_link;
    file_link;
    materials;
    amount_of(amount: &str, material: &str);
    amount_of_deleted(amount: &str);
    claim_held;
    claim_in_line;
    claim_requested;
    claim_none;
    used_so_far(amount: &str);
    compatibility;
    no_printers;
    open_floor;
    printers;
    can_print_column;
    missing_column;
    slots_column;
    can_now;
    can_later;
    cannot_but_free;
    cannot;
    slot;
    slot_content(slot: &str, amount: &str);
    not_confirmed;

    all_reasons;
    printer_message;
    cancelling;
    order_line(line: &str);
    parts(parts: u32);
    priority_of(priority: &str);
    reprint_of_rejected;
    spare(needed: u32, spare: u32);
    due(time: &str);
    expected(time: &str);

    removed_printer;
    print_claimed(number: &str, printer: &str);
    print_uploading(number: &str, printer: &str);
    print_start_sent(number: &str, printer: &str);
    print_confirmed(number: &str, printer: &str);
    print_finished(number: &str, printer: &str);
    print_failed(number: &str, printer: &str);
    print_cancelled(number: &str, printer: &str);
    print_refused(number: &str, printer: &str);
    print_not_started(number: &str, printer: &str);
    print_abandoned(number: &str, printer: &str);
    print_from(time: &str);
    print_to(time: &str);
    good_of(good: u32, parts: u32);
    end_picture(number: &str);

    did_it_succeed(percent: &str);
    mark_not_started;
    mark_finished;
    mark_failed;
    not_responding;
    not_responding_text;
    pause;
    resume;
    release;
    retry;
    reprint;
    reprint_note;
    reprint_all;
    edit_or_cancel;
    cancel_text;
    save;
    cancel(number: &str);
    cancel_on(number: &str, printer: &str);
    no_confirmation;
    sign_off_parts;
}
