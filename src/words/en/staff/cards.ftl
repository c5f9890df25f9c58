### Printers as all pages show them, and their cards.

## States

state_disconnected = Disconnected
state_maintenance = Out of service
state_offline = Offline
state_error = Error
state_check_bed = Check the bed
state_uploading = Uploading
state_starting = Starting
state_printing = Printing
state_paused = Paused
state_ready = Ready
state_stopped = Stopped by an error
state_clear_bed = Clear the bed
state_attention = Needs attention

## Reasons why a printer needs a person

bed_not_cleared = Bed not cleared
needs_home = Needs homing
maintenance = Out of service
maintenance_due = Maintenance due
print_failed = Last print failed
firmware_error = Firmware error
start_refused = Start rejected
disk_full = Storage full
unreachable = Not responding
wrong_key = API key rejected
read_only = Read-only connection
unverified = Check the bed: start or end not confirmed
foreign_print = Manual print in progress

## The same in detail, with the text of the printer. Also in the API, in English

firmware_reason = firmware error: { $text }
disk_reason = storage is full; delete files from the printer: { $text }
refusals_reason =
    { $count ->
        [one] rejected a print start: { $text }
       *[other] rejected { $count } print starts in a row: { $text }
    }
maintenance_reason = due for maintenance ({ $names })
maintenance_reason_of_more = due for maintenance ({ $names } and { $count } more)

## Spools

loaded_spools = Loaded spools
slot = Slot
external_spool = External
no_spool = No spool
running_low = running low

## Subject of a card

camera_of = Camera view of { $printer }
view_job = View job
manual_print = Manual print
last_print = Last print
print_failed_of = { $print } failed
print_on_bed = { $print } on the bed
idle = Idle { $time }
print_starting = Print starting
disconnected_manually = Disconnected manually
no_response = No response
no_response_since = No response { $time }

## Progress and next job

progress_of = Progress of { $printer }
time_left = Time left:
ends = ends { $time }
layer = Layer
nozzle_and_bed = Nozzle and bed
next = Next:
planned_job = { $job } { $part }, { $time }
more_jobs = and { $count } more
nothing_queued = Nothing queued
no_job = No queued job fits this printer
# The second message follows the first one, and is left out where there is no room.
jobs_waiting =
    { $count ->
        [one] { $count } job waiting
       *[other] { $count } jobs waiting
    }
for_this_printer = for this printer
jobs_waiting_for_printer =
    { $count ->
        [one] { $count } job waiting for this printer
       *[other] { $count } jobs waiting for this printer
    }

## Actions

bed_is_clear = Bed is clear
mark_checked = Mark as checked
home_axes = Home axes
resume = Resume
resume_on = Resume { $print } on { $printer }
connect = Connect
view_details = View details
start_manual_print = Manual print…
start_manual_print_on = Manual print… on { $printer }
pause = Pause { $printer }
pause_short = Pause
done_with = { $action }: done.
more_actions = More actions for { $printer }
open = Open { $printer }
cancel = Cancel…
cancel_on = Cancel… { $print } on { $printer }
edit_or_remove = Edit or remove
print_label = Print label
# In place of the number of a job or the name of a file.
some_print = the print

## Temperatures

readings = Readings
no_temperatures = No temperatures yet.
filament_used = Filament used
chart_range = Last { $minutes } minutes, from 0 to { $top } °C
nozzle = Nozzle
bed = Bed
chamber = Chamber
tool = Tool { $number }
target = target { $temperature }
