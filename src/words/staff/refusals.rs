//! Messages for the staff's error pages, and for errors in forms. The API's messages are in English; those here are
//! their translations, which forms of translated pages show.

use crate::messages;

messages! {
    "staff/refusals":

    signed_out_title;
    signed_out_text;
    spent_link_title;
    spent_link_text;
    other_machine_title;
    other_machine_text;
    missing_title;
    missing_text;
    programs_title;
    programs_text;
    admins_title;
    admins_text;
    printer_title;
    printer_text;
    own_password_title;
    own_password_text;
    cross_site_title;
    cross_site_text;
    outdated_title;
    outdated_text;
    foreign_title;
    foreign_text;
    conflict_title;
    conflict_text;
    too_large_title;
    too_large_text;
    too_many_title;
    too_many_text;
    unavailable_title;
    unavailable_text;
    invalid_title;
    invalid_text;
    broken_title;
    broken_text;
    sign_in;
    open_floor;

    wrong_credentials;
    second_factor_required;
    wrong_code;
    too_many_codes;
    too_many_tries;
    form_outdated;
    form_sent_before;
    record_gone;
    fault_too_short(least: u64);
    fault_too_small(least: &str);
    fault_too_large(most: &str);
    fault_range(least: &str, most: &str);
    fault_amount;
    fault_amount_ambiguous;
    fault_amount_precise;
}
