//! Messages for the page on which labels with QR codes are chosen, and for the labels.

use crate::messages;

messages! {
    "staff/labels":

    title;
    all_stock;
    about;
    codes_begin(address: &str);
    unreachable(setting: &str);
    paper;
    roll;
    sheet;
    first_of(shown: usize, count: usize);
    create;
    printers;
    no_printers;
    open_floor;
    spool(number: &str);
    spool_of(number: &str, material: &str);
    spools;
    no_spools;
    bins;
    no_bins;
    new_spools;
    new_spools_elsewhere;
    no_materials;
    go_to_stock;
    new_spools_about;
    material_field;
    count_field;
}
