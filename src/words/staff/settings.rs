//! Messages for the settings: their overview, backups and restores.

use crate::messages;

messages! {
    "staff/settings":

    title;
    group_own;
    group_people;
    group_shop;
    group_server;
    keys;
    keys_about;
    users;
    users_about;
    account;
    account_about;
    password;
    password_about;
    second_factor;
    second_factor_about;
    sessions;
    sessions_about;
    audit;
    audit_about;
    integrations;
    integrations_about;
    emails;
    emails_about;
    system;
    system_about;
    backup;
    backup_about;
    restores;
    restores_about;
    design;
    design_about;
    setup;
    setup_about;
    factor_on;
    factor_off;
    session_count(count: usize);
    user_count(count: usize);
    key_count(count: usize);
    integration_count(count: usize);
    integration_failing(name: &str);
    email_missing;
    only_admins;
    no_restart;
    restart;
    restart_needed;
    restart_text(command: &str);
    only_secrets;

    nothing_downloaded;
    download;
    download_text;
    download_backup;
    scheduled_backups;
    backups_on(interval: &str, place: &str);
    backups_off(interval: &str, place: &str);
    last_backup(time: &str);
    no_backup_yet;
    backup_retried(reason: &str);
    backup_included;
    backup_database(file: &str);
    backup_files(folder: &str);
    backup_documents(folder: &str);
    backup_manifest(file: &str);
    backup_not_included;
    backup_secrets(secrets: &str, environment: &str);
    backup_secrets_copy;
    backup_secrets_use(key: &str, salt: &str);
    backup_other(file: &str);
    restore_backup;
    restore_stop(command: &str);
    restore_settings(environment: &str, settings: &str);
    restore_data(command: &str);
    restore_data_and_database(setting: &str, command: &str);
    restore_secrets(file: &str);
    restore_start(command: &str);
    restore_review(link: &str);
    restore_review_link;
    restore_test;

    never_restored;
    backup_from(time: &str);
    restored(time: &str);
    reviewed_by(person: &str, time: &str);
    needs_review;
    waiting_text;
    open_jobs(count: &str);
    no_open_jobs;
    open_jobs_text;
    job_of(order: &str);
    next_numbers;
    next_numbers_text;
    next_number(series: &str, last: &str);
    note;
    finish_review;

    backup_under_way;
    invalid_settings;
    backup_failed;
}
