//! Messages for the server status.

use crate::messages;

messages! {
    "staff/system":

    title;
    ready;
    degraded;
    not_ready;
    warnings;
    works;
    backup_text(link: &str);
    backup_link;
    monitoring;

    glance;
    version;
    development_mode(version: &str);
    production_mode(version: &str);
    database;
    redis;
    redis_unused;
    disk;
    disk_space(free: &str, total: &str);
    disk_low;
    disk_unknown;
    uploads;
    uploads_unknown;
    uploads_used(used: &str);
    uploads_used_of(used: &str, limit: &str);
    uploads_rejected;
    uploads_rejected_disk;

    no_response;
    disk_full;
    read_only;
    out_of_service;
    down;

    components;
    component_table;
    component;
    status;
    crashes;

    actors_by_kind;
    actor_table;
    kind;
    in_memory;
    queued_commands;
    restarts;
    rejected;
    none;
    actors_starting(count: u64);
    actors_running(count: u64);
    actors_resting(count: u64);
    actors_parked(count: u64);
    crashed;
    crashed_starting(restarts: u64);
    crashed_running(restarts: u64);
    crashed_resting(restarts: u64);
    crashed_parked(restarts: u64);
    crashed_otherwise(status: &str, restarts: u64);
}
