//! Messages for one's own account: language, password, two-step sign-in, sessions.

use crate::messages;

messages! {
    "staff/account":

    account_title;
    signed_in_as(email: &str);
    language_field;
    language_of_browser;
    language_hint;
    save;
    password_link;

    password_title;
    current_password_field;
    new_password_field;
    new_password_hint;
    change_password;
    password_note;

    factor_title;
    factor_on;
    factor_on_since(time: &str);
    recovery_codes_left(count: usize);
    recovery_codes_use;
    turn_off_heading;
    turn_off_code_field;
    turn_off;
    turn_off_note;
    factor_off;
    set_up;
    qr_code;
    scan_heading;
    scan_text;
    secret_text(key: &str);
    secret_note;
    enter_code_second_heading;
    enter_code_heading;
    code_field;
    turn_on;
    start_over;
    turned_on;
    recovery_codes_heading;
    recovery_codes_text;
    codes_saved;

    sessions_title;
    sessions_of_shop;
    sessions_of_account;
    sessions_advice;
    user_column;
    browser_column;
    last_used_column;
    signed_in_column;
    end_column;
    this_browser;
    browser_unknown;
    end_session;
    end_session_of(email: &str);
}
