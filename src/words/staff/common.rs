//! Messages for the parts shared by the pages of all areas.

use crate::messages;

messages! {
    "staff/common":

    total(count: u64);
    newer;
    older;
    shown_once;
    copy;
    recent_activity;
    open_audit_log;
    list_end(rest: &str, last: &str);

    address_line_1;
    address_line_2;
    postal_code;
    city;
    region;
    country;
    good_parts;
    bad_parts;
    report_bad_parts;
    defect;
    amount;
    note;
    expected_delivery;
    reference;
    due_date;
    work_done;
    notes_to_customer;
    internal_notes;

    picture_of_parts;
    no_defect;
    defect_adhesion;
    defect_warping;
    defect_stringing;
    defect_layer_shift;
    defect_spaghetti;
    defect_wrong_colour;
    defect_other;
    good;
    bad;
    both_bad;
    all_bad(parts: u32);
    some_bad(parts: u32);
    both_good;
    all_good(parts: u32);
    sign_off;
    emergency_stop;
    hold_to_stop(printer: &str);
    emergency_stop_of(printer: &str);

    span_minutes(minutes: &str);
    span_hours(hours: &str, minutes: &str);
    compact_under_minute;
    compact_hours(hours: &str, minutes: &str);
    compact_whole_hours(hours: &str);

    edit_line(number: usize, title: &str);
    save_line;
    remove_line(number: usize);
    add_line_title;
    add_line;

    get_started;
    get_started_text;
    add_printer;
    add_printer_text;
    add_material;
    add_material_text;
    add_sku;
    add_sku_text;
    step_done;
    step_to_do;
    first_orders;
    get_started_note(orders: &str, command: &str);
}
