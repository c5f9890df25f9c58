//! Messages about spools and slots: the list of slots, and the page of a spool.

use crate::messages;

messages! {
    "staff/spools":

    in_slot(printer: &str, slot: &str);
    in_external_slot(printer: &str);
    left(amount: &str);
    spool(number: &str);

    slots_title;
    slots_table;
    no_printers;
    open_floor;
    unknown;
    reported_by_printer;
    change_contents_of(place: &str);
    change;
    contents_of(place: &str);
    printer_reports(spool: &str);
    remaining_in_unit_field;
    number_field;
    save_contents;
    mark_empty;
    cancel;

    of_material_heading;
    none_loaded;
    no_number;
    in_place(place: &str);
    on_shelf;
    labels_link;

    all_stock;
    loaded;
    shelf_status;
    details;
    material;
    material_unknown;
    remaining;
    needs_decision;
    not_recorded;
    loaded_in;
    print_label;

    load_heading;
    move_heading;
    no_other_slots;
    choose_material;
    place_field;
    place_choice(place: &str, content: &str);
    busy_place_choice(place: &str, content: &str);
    empty;
    remaining_field(unit: &str);
    load;

    weigh;
    weighed_by_printer;
    scale_field;
    empty_weight_field;
    or_remaining_field;
    save_weight;

    unload_heading;
    mark_unloaded;
    write_on_spool(amount: &str);
    retire_number(number: &str);
    retire_note;
    write_off_field(amount: &str);
    retire;
}
