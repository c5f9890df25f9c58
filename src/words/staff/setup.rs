//! Messages for the setup wizard: its frame, its steps, and the pages of each step.

use crate::messages;

messages! {
    "staff/setup":

    skip_link;
    steps;
    step_count(number: usize, count: usize);
    welcome;
    database;
    printers;
    integrations;
    commerce;
    review;
    next(title: &str);
    back;
    leave_note;
    save;

    admins_title;
    admins_text;
    outdated_title;
    outdated_text;
    missing_title;
    missing_text;
    completed_title;
    completed_text;
    fixed_title;
    fixed_text;
    unreadable_title;
    unreadable_text;
    conflict_title;
    conflict_text;
    too_many_title;
    too_many_text;
    unavailable_title;
    unavailable_text;
    invalid_title;
    invalid_text;
    broken_title;
    broken_text;
    open_setup;

    enter_title;
    wrong_code;
    code_spent;
    wrong_credentials;
    second_factor_required;
    wrong_factor;
    code_text(word: &str);
    code_field;
    code_hint(sample: &str);
    completed_note;
    or_sign_in;
    sign_in_text;
    email_field;
    password_field;
    factor_field;
    factor_hint;
    sign_in;
    no_admin;

    welcome_text(mode: &str);
    mode_production;
    mode_development;
    current_heading;
    current_text(file: &str);
    admin_heading;
    admin_text;
    name_field;
    password_hint;
    create_admin;
    time_zone_heading;
    time_zone_fault(name: &str);

    database_text;
    test_both;
    other_database;
    other_database_text;
    both_must_pass;

    printers_text;
    search;
    cancel_search;
    reload_text(link: &str);
    reload_link;
    added_heading;
    none_added;
    program_at(program: &str, address: &str);
    add_manually;
    search_running(count: usize);
    search_complete(count: usize);
    search_cancelled(count: usize);
    checked(done: usize);
    checked_of(done: usize, total: usize);
    none_found;
    added;
    add_named(name: &str);
    add_heading;
    test_and_add;
    cancel;

    integrations_text;
    commerce_text;
    set_up_service;
    change_service;
    test_and_save;
    seller_heading;
    seller_text;
    seller_saved;
    seller_saved_text;
    seller_missing;
    seller_complete_unwritten;
    seller_complete;

    not_tested;
    fill_in_first;
    unused_text;
    test_passed;
    test_failed;
    test_details;
    enter_address;

    nothing_saved;
    summary_heading;
    changes_heading;
    no_changes;
    removed;
    set_not_shown;
    backup_text;
    write;
    write_text;
    correct_value;

    done_title;
    first_print_heading;
    next_heading;
    next_floor;
    next_floor_link;
    next_api;
    next_api_link;
    next_services;
    next_services_link;
    next_settings;
    next_settings_link;
    printing;
    printing_text(name: &str);
    uploading;
    uploading_text(name: &str);
    print_refused;
    all_in_effect;
    written_heading(file: &str);
    no_changes_needed;
    shadowed(setting: &str, source: &str);
    restart_heading;
    no_restart;
    restart_text(command: &str);
    no_printers(link: &str);
    no_printers_link;
    test_print_text;
    print_test_part(name: &str);
    packages_only;

    print_starting(name: &str);
    print_not_started(name: &str, reason: &str);
    print_running(name: &str);
    print_paused(name: &str);
    print_finished(name: &str);
    print_ended_early(name: &str);
    print_faulty(name: &str);
    print_offline(name: &str);
    progress_of(name: &str);
    minutes_left(minutes: i64);
    open_printer(name: &str);
}
