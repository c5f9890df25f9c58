//! Messages about why jobs wait: what they wait for, and what the printers lack. The rules of dispatch write them
//! (`src/domain/dispatch/`), in English for the API and in the language of the page for the staff.

use crate::messages;

messages! {
    "staff/waiting":

    on_hold;
    turn;
    no_printer_can;
    for_printer_with(material: &str);
    for_printer;
    no_type_accepts(ending: &str);
    none_registered(machine: &str);

    cancelling;
    cancelling_at(silence: &str);
    ending;
    sku_incomplete;
    no_file;
    being_read;
    being_sliced;
    stock_check;
    sending;
    paused;
    no_reason_reported;
    end_unknown(reason: &str);
    start_unknown(reason: &str);
    wrong_key;
    silent_since(time: &str);
    silent;

    below_reorder_point;
    slicing_failed;
    not_enough_material;
    held_by(words: &str, jobs: &str);
    units;

    printers_with(count: usize, predicate: &str);
    is_state(state: &str);
    are_state(state: &str);
    free_from(time: &str);
    needs_clear_bed;
    need_clear_beds;
    next_try(predicate: &str, seconds: &str);
    has_unconfirmed(spool: &str, place: &str, material: &str);
    have_unconfirmed(spool: &str, place: &str, material: &str);
    needs(objects: &str);
    need(objects: &str);
    among_others(predicate: &str);
    is_other_machine(machine: &str);
    are_other_machines(machine: &str);
    rejects_format(ending: &str);
    reject_format(ending: &str);
    cannot_print_for(model: &str);
    they_cannot_print_for(model: &str);
    is_too_small;
    are_too_small;
    cannot_assign;
    they_cannot_assign;
    nozzle(size: &str);
    nozzles(size: &str);
    plate(name: &str);
    loaded(material: &str);
    material_at(material: &str, place: &str);
    in_changer(material: &str);
    fuller_spool(material: &str, left: &str, need: &str, unit: &str);
    fuller_spools(material: &str);
    rejected(reason: &str);
    deleted_printer(predicate: &str);
    no_reason;
    its_material;
    in_slot(slot: &str);
    on_external_holder;
    slot(label: &str);
    external_spool;
    standard_filament_printer;
    large_filament_printer;
    standard_resin_printer;
    large_resin_printer;
    laser_cutter;
    laser_engraver;
    slot_title(label: &str);
    external_spool_title;

    unready_manual_start;
    unready_unverified;
    unready_finishing;
    unready_paused;
    unready_starting;
    unready_printing;
    unready_other_print;
    unready_deleted;
    unready_disconnected;
    unready_wrong_key;
    unready_read_only;
    unready_connecting;
    unready_offline;
    unready_maintenance;
    unready_maintenance_due(names: &str);
    unready_error;
    unready_fault;
    unready_not_homed;
    unready_bed;
    unready_disk_full;
    unready_refuses_starts;

    lacks_machine(machine: &str);
    lacks_format(ending: &str);
    lacks_model(own: &str, required: &str);
    lacks_volume(volume: &str, size: &str);
    lacks_nozzle(own: &str, required: &str);
    lacks_plate(own: &str, required: &str);
    lacks_material(material: &str);
    lacks_slot(material: &str, place: &str);
    lacks_changer(material: &str);
    lacks_filaments;
    lacks_amount(left: &str, unit: &str, material: &str, need: &str);
    spool_offer(slot: &str, spool: &str, material: &str);
    printer_is(state: &str);
    size(x: &str, y: &str, z: &str);

    more_names(count: usize);
}
