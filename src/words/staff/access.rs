//! Messages for the settings for access: API keys, users, and the page of one user.

use crate::messages;

messages! {
    "staff/access":

    keys_title;
    keys_text(header: &str);
    api_documentation;
    new_key;
    no_keys;
    key_revoked;
    key_expired;
    key_active;
    key_table;
    name;
    key_column;
    status;
    role;
    last_used_column;
    created_column;
    expires_column;
    revoke;
    never;
    revoke_text;
    revoke_key(name: &str);
    key_name_hint;
    expiry;
    expiry_hint;
    customer;
    customer_hint;
    create_key;
    key_shown_once;
    key_created;
    key_for(name: &str);
    copy_key;
    view_keys;

    operator;
    admin;
    customer_role;
    operator_option;
    admin_key_option;
    admin_user_option;
    customer_option;

    users_title;
    users_total(count: u64);
    add_user;
    user_active;
    user_disabled;
    email;
    email_hint;
    second_factor_column;
    second_factor_on;
    second_factor_off;
    last_seen_column;
    not_signed_in_now;
    password;
    password_hint;
    share_password;

    account;
    access;
    sessions;
    not_signed_in;
    role_hint;
    save;
    disable_account;
    disable_text(name: &str);
    disable(name: &str);
    enable(name: &str);
    own_account(password: &str, factor: &str);
    own_password_link;
    own_factor_link;
    remove_account;
    remove_text(name: &str);
    remove(name: &str);
    reset_password;
    new_password;
    reset_password_hint;
    turn_off_factor;
    turn_off_factor_text(name: &str);
    turn_off_factor_for(name: &str);

    actions_column;
    your_account;
    reset_password_of(name: &str);
    change_role;
    make_admin(name: &str);
    make_operator(name: &str);
}
