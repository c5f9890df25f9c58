//! Messages for a printer's page, with its notes, and for the pages on which a file is printed there manually.

use crate::messages;

messages! {
    "staff/printer_page":

    all_printers;
    manual_print;
    edit_or_remove;
    history;
    now;
    camera_view(name: &str);

    cancel_question(print: &str, name: &str);
    cancel_text;
    keep_printing;
    cancel(print: &str, name: &str);
    parts_heading;
    stop_heading;
    stop_gentle;
    stop_text;
    stop_warning;
    stop_name(name: &str);
    stop(name: &str);
    stop_hint;

    service_heading;
    done_hint;
    reason_field;
    put_back;
    take_out;
    connect;
    disconnect;

    queue_heading;
    ends(time: &str);
    more_jobs(count: usize);
    queue_note;

    details_heading;
    printer_type;
    address;
    location;
    position;
    row_and_column(row: u32, column: u32);
    tags;
    last_response;
    attention;
    bed_cleared;
    code_label;

    notes_heading;
    note_hint;
    add_note;
    no_notes;
    older_notes(count: u64);
    completed(names: &str);
    due(name: &str);
    mark_done;

    back_to(name: &str);
    upload_heading(name: &str);
    file_field;
    file_hint;
    accepted_files(endings: &str);
    upload;
    print_question(file: &str, name: &str);
    file;
    print_time;
    material;
    grams(grams: &str);
    layers;
    size;
    slicer;
    check_again;
    print_now(name: &str);
    print_note;
    filament_field(number: usize);
    filament_field_of(number: usize, details: &str);
    automatic;
    slot_with(slot: &str, spool: &str);
    unknown_spool;
    not_gcode;
    other_format(name: &str, endings: &str, ending: &str);
    not_free(name: &str, reason: &str);

}
