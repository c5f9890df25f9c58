//! Messages about materials: the list, bins, the material's page with its ledger, the form, and claims of jobs.

use crate::messages;

messages! {
    "staff/stock":

    title;
    all_stock;
    slots_link;
    bins_link;
    labels_link;
    add_material;
    no_materials;
    no_materials_advice;
    none_match;
    show_all;
    level_filter;
    level_all;
    level_low;
    search_field;
    search;

    none_available;
    low;
    enough;
    to_order_heading(count: usize);
    available_with_level(available: &str, level: &str);
    reorder_level(point: &str);
    without_reorder_level;
    no_reorder_level;
    order_amount(amount: &str);
    jobs_waiting(count: usize);
    levels_note;
    materials_table;
    material_column;
    level_column;
    status_column;
    on_hand;
    reserved;
    available;
    reorder_at;
    bin;
    levels_line(on_hand: &str, reserved: &str, level: &str);
    levels_line_in_bin(on_hand: &str, reserved: &str, level: &str, bin: &str);

    bins_title;
    all_bins;
    no_bins;
    view_materials;
    materials_in_bin(count: usize);
    bin_labels;
    bin_contents;
    bin_empty;
    on_hand_and_available(on_hand: &str, available: &str);
    receive_material(name: &str);
    print_label;

    glance;
    to_order;
    brand;
    variant;
    vendor_code;
    cost_per(quantity: &str);
    also_tracked_in(system: &str);
    needs_decision;
    edit;
    waiting_jobs(count: usize);
    view_job;

    receive_heading;
    receive;
    receive_amount(amount: &str);
    receive_amount_of(amount: &str, name: &str);
    received_field(unit: &str);
    reason;
    delivery;
    adjust_heading;
    count_stock;
    count_note;
    counted_field(unit: &str);
    save_count;
    write_off_stock;
    lost_field(unit: &str);
    write_off;
    remove_heading;
    remove_summary;
    remove_note;
    remove(name: &str);

    ledger;
    chart_limit(count: u64);
    chart_summary(from: &str, until: &str, least: &str, most: &str, point: &str);
    changes_table;
    time_column;
    change_column;
    on_hand_column(unit: &str);
    reserved_column(unit: &str);
    on_hand_after;
    reserved_after;
    by_column;
    movement_received;
    movement_corrected;
    movement_reserved;
    movement_released;
    movement_printed;
    movement_synchronised;

    record_print;
    keep_count;
    use_our_count(amount: &str);
    use_their_count(amount: &str);

    edit_title(name: &str);
    back_without_saving;
    name_field;
    type_field;
    filament;
    resin;
    laser_sheets;
    laser_consumables;
    color_field;
    color_hint;
    variant_hint;
    vendor_code_hint;
    bin_hint;
    reorder_hint;
    reorder_quantity;
    cost_field;
    cost_hint(currency: &str);
    save;

    claim_short(need: &str, name: &str, free: &str);
    claim_behind_others(need: &str, name: &str, free: &str);
    claim_below_reorder_point(need: &str, name: &str, on_hand: &str, point: &str);
    missing_booking(amount: &str, spool: &str, name: &str);

    fault_decimals;
    fault_too_large;

    reason_initial;
    reason_count;
    reason_retired(spool: &str);
    reason_sliced;
    reason_exceeded(consumed: &str, on_hand: &str);
    reason_changed_there(system: &str, name: &str);
    reason_accepted(system: &str, name: &str);
}
