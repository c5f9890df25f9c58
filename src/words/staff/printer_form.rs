//! Messages for a printer's forms: fields, types, and the pages on which printers are added, changed and removed.

use crate::messages;

messages! {
    "staff/printer_form":

    name_field;
    type_field;
    type_with_port(program: &str, port: &str);
    url_field;
    url_sample;
    url_by_type;
    url_port(port: &str);
    key_field;
    key_password;
    key_text;
    key_not_needed(programs: &str);
    key_required(programs: &str);
    serial_field;
    serial_text(programs: &str);
    machine_field;
    machine_fdm_standard;
    machine_fdm_large;
    machine_resin_standard;
    machine_resin_large;
    machine_laser_cutter;
    machine_laser_engraver;
    volume_fields;
    more_fields;
    machine_with_volume(machine: &str, size: &str);
    width_field;
    depth_field;
    height_field;
    name_missing;
    url_missing;
    key_missing(field: &str);

    hint_key;
    hint_address;
    hint_key_web;
    hint_address_web;
    access_code_field;
    hint_key_lan;
    hint_address_lan;
    hint_serial_lan;
    hint_key_screen;
    hint_address_screen;
    hint_key_application;
    hint_address_browser;

    models_of_firmware;
    models_of_server;
    models_of_web_interface;
    models_of_lan_mode;
    models_of_resin_and_board;

    model_field;
    model_hint;
    plate_field;
    plate_hint;
    location_field;
    location_hint;
    position_fields;
    row_field;
    row_hint;
    column_field;
    column_hint;
    nozzle_fields;
    nozzle_field;
    nozzle_material_field;
    tags_field;
    tags_hint;
    camera_field;
    camera_hint;
    camera_login_field;
    camera_login_hint;
    auto_clear_field;

    all_printers;
    add_title;
    choose_text;
    types;
    found_heading;
    search_heading;
    search_text;
    search;
    by_hand_heading;
    all_types;
    add_heading(program: &str);
    skip_test;
    test_and_add;
    cancel;

    back_to(name: &str);
    edit_heading(name: &str);
    keep_key;
    save;
    remove_named(name: &str);
    remove_text;
    remove;
    remove_question(name: &str);

    fault_url;
    fault_camera_url;
    fault_no_printer;
    fault_no_camera;
    fault_serial;
    printer_disconnected;
}
