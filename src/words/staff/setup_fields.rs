//! Messages about services and settings, for the setup wizard and the page of integrations: names, states, fields and
//! advice.

use crate::messages;

messages! {
    "staff/setup_fields":

    database;
    redis;
    smtp;
    email;
    workflow;
    farm_ui;
    failure_detection;
    smart_home;
    parts;
    spools;
    agent;
    accounting;
    payments;
    printer;

    left_out;
    begun;
    not_used;
    tested_unwritten;
    tested;
    built_in;
    configured;

    about_workflow;
    about_farm_ui;
    about_failure_detection;
    about_smart_home;
    about_parts;
    about_spools;
    about_agent;
    about_payments;
    about_email;
    about_smtp;

    sample(sample: &str);
    already_set;
    set_by(source: &str);
    remove;
    url_field;
    token_field;
    token_hint;
    database_hint;
    redis_hint;
    port_field;
    port_hint;
    user_field;
    user_hint;
    password_field;
    sender_field;
    sender_hint;
    email_key_field;
    secret_key_field;
    secret_key_hint;
    webhook_secret_field;
    webhook_secret_hint;
    publishable_key_field;
    publishable_key_hint;
    workflow_hint;
    time_zone_field;
    time_zone_hint;

    your_shop(field: &str);
    seller_name_field;
    seller_name_hint;
    line1_field;
    line2_field;
    postal_code_field;
    city_field;
    country_field;
    country_hint;
    vat_id_field;
    vat_id_hint;
    tax_number_field;
    tax_number_hint;
    seller_gaps(names: &str);
    gap_name;
    gap_street;
    gap_city;
    gap_country;
    gap_vat_id;
    gap_tax_number;

    advice_refused;
    advice_credentials;
    advice_host;
    advice_name;
    advice_tls;
    advice_time;
    advice_address;
    advice_firmware;
    advice_database;
    advice_redis;
    advice_smtp;
    advice_payments;
    advice_printer;
    advice_other;

    result_works;
    result_memory;
    result_key;
    result_read_only;
    result_firmware;
    result_silent;
    result_responds(name: &str);
    result_created(name: &str);
    result_unusable(name: &str);
    result_smtp(place: &str);
}
