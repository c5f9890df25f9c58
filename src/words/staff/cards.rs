//! Messages about printers, as shown on all pages: their states, what they need from a person, and their cards.

use crate::messages;

messages! {
    "staff/cards":

    state_disconnected;
    state_maintenance;
    state_offline;
    state_error;
    state_check_bed;
    state_uploading;
    state_starting;
    state_printing;
    state_paused;
    state_ready;
    state_stopped;
    state_clear_bed;
    state_attention;

    bed_not_cleared;
    needs_home;
    maintenance;
    maintenance_due;
    print_failed;
    firmware_error;
    start_refused;
    disk_full;
    unreachable;
    wrong_key;
    read_only;
    unverified;
    foreign_print;

    firmware_reason(text: &str);
    disk_reason(text: &str);
    refusals_reason(count: u32, text: &str);
    maintenance_reason(names: &str);
    maintenance_reason_of_more(names: &str, count: usize);

    loaded_spools;
    slot;
    external_spool;
    no_spool;
    running_low;

    camera_of(printer: &str);
    view_job;
    manual_print;
    last_print;
    print_failed_of(print: &str);
    print_on_bed(print: &str);
    idle(time: &str);
    print_starting;
    disconnected_manually;
    no_response;
    no_response_since(time: &str);

    progress_of(printer: &str);
    time_left;
    ends(time: &str);
    layer;
    nozzle_and_bed;
    next;
    planned_job(job: &str, part: &str, time: &str);
    more_jobs(count: usize);
    nothing_queued;
    no_job;
    jobs_waiting(count: usize);
    for_this_printer;
    jobs_waiting_for_printer(count: usize);

    bed_is_clear;
    mark_checked;
    home_axes;
    resume;
    resume_on(print: &str, printer: &str);
    connect;
    view_details;
    start_manual_print;
    start_manual_print_on(printer: &str);
    pause(printer: &str);
    pause_short;
    done_with(action: &str);
    more_actions(printer: &str);
    open(printer: &str);
    cancel;
    cancel_on(print: &str, printer: &str);
    edit_or_remove;
    print_label;
    some_print;

    readings;
    no_temperatures;
    filament_used;
    chart_range(minutes: &str, top: &str);
    nozzle;
    bed;
    chamber;
    tool(number: &str);
    target(temperature: &str);
}
