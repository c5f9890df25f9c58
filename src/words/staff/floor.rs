//! Messages for the floor page: its filters, views and sections, the floor plan, and the page of a shop without
//! printers.

use crate::messages;

messages! {
    "staff/floor":

    title;
    back;
    no_match;
    show_all;
    stop_note;
    safety_note;

    filter_label;
    filter_all(count: usize);
    filter_attention;
    filter_printing;
    filter_ready;
    filter_offline;
    printers;
    search;
    list;
    plan;
    wall;
    add_printer;
    view;
    group_by;
    by_state;
    by_place;
    by_model;
    density;
    automatic;
    comfortable;
    compact;
    dense;
    large;
    apply;
    next_free(time: &str, printer: &str);
    up_next;
    waiting(count: usize);
    nothing_waiting;

    group_attention;
    group_printing;
    group_ready;
    group_offline;
    no_place;
    no_model;

    wall_pages;
    wall_page(page: &str, pages: &str);
    previous_page;
    next_page;
    wall_pause;
    wall_resume;

    plan_of(place: &str);
    plan_without_place;
    column(number: u32);
    row(number: u32);
    position_note;

    empty_title;
    empty_text;
    first_printer(link: &str);
    first_printer_link;
    first_material(link: &str);
    first_material_link;
    first_product(link: &str);
    first_product_link;
    demo_note(command: &str);
    api_note(link: &str);
    api_link;

    upload_failed;
    upload_busy;
    uploading(file: &str, printer: &str);
    cancel_upload;
    upload_silent;
    upload_cancelled;
    one_file;
}
