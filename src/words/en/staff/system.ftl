### The server status.
title = System
ready = Ready
degraded = Degraded
not_ready = Not ready
warnings = Warnings
works = OK
backup_text = { $link }: download a copy of your shop's data
backup_link = Backup
monitoring = For monitoring:

## At a glance

glance = At a glance
version = Version
development_mode = { $version }, development mode
production_mode = { $version }, production mode
database = Database
redis = Redis
redis_unused = Not used
disk = Disk
disk_space = { $free } of { $total } free
disk_low = Low
disk_unknown = Unknown
uploads = Customer uploads
uploads_unknown = Unknown
uploads_used = { $used } used by unprocessed uploads
uploads_used_of = { $used } of { $limit } used by unprocessed uploads
uploads_rejected = New uploads are rejected
uploads_rejected_disk = New uploads are rejected: disk nearly full

## Problems

no_response = Not responding
disk_full = Disk full
read_only = Read-only
out_of_service = Out of service
down = Down

## Components

components = Components
component_table = Component status
component = Component
status = Status
crashes = Crashes

## Actors

actors_by_kind = Actors by kind
actor_table = Actors
kind = Kind
in_memory = In memory
queued_commands = Queued commands
restarts = Restarts
rejected = Rejected (load)
none = None
actors_starting = { $count } starting
actors_running = { $count } running
actors_resting = { $count } resting
actors_parked = { $count } parked
crashed = Crashed actors
crashed_starting =
    { $restarts ->
        [one] starting, { $restarts } restart
       *[other] starting, { $restarts } restarts
    }
crashed_running =
    { $restarts ->
        [one] running, { $restarts } restart
       *[other] running, { $restarts } restarts
    }
crashed_resting =
    { $restarts ->
        [one] resting, { $restarts } restart
       *[other] resting, { $restarts } restarts
    }
crashed_parked =
    { $restarts ->
        [one] parked, { $restarts } restart
       *[other] parked, { $restarts } restarts
    }
crashed_otherwise =
    { $restarts ->
        [one] { $status }, { $restarts } restart
       *[other] { $status }, { $restarts } restarts
    }
