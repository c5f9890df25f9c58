### Why jobs wait. Most messages are clauses: the first letter becomes a capital, and a full stop is added.

## What a job waits for

on_hold = on hold since the shop was restored from a backup: an admin must review the restore first
turn = waiting for its turn
no_printer_can = No printer can print this job
for_printer_with = Waiting for a printer with { $material }
for_printer = Waiting for a printer
no_type_accepts = no printer type accepts .{ $ending } files; its product needs plain G-code (.gcode)
none_registered = no { $machine } has been added

## State of the job

cancelling = waiting for the printer to confirm the cancellation
cancelling_at = waiting for the printer to confirm the cancellation; { $silence }
ending = the print has ended; asking the printer for its outcome
sku_incomplete = the product is incomplete
no_file = its product has neither a G-code file nor a model with a slicer profile
being_read = reading its product and file
being_sliced = the model is being sliced
stock_check = waiting for the stock check
sending = being sent to the printer
paused = paused at the printer
no_reason_reported = the printer reports no reason
end_unknown = it is unknown how the print ended ({ $reason }); an operator must resolve it
start_unknown = it is unknown whether the print started ({ $reason }); an operator must resolve it
wrong_key = the printer rejects the API key; enter the correct key in the printer's settings
silent_since = the printer has not responded since { $time }
silent = the printer has not responded yet

## Stock

below_reorder_point = the material's stock is below the reorder point
slicing_failed = slicing failed
not_enough_material = not enough material is available
held_by = { $words }; held by { $jobs }
units = units

## What printers are or need, as predicates after the name of a printer or their number

printers_with = { $count } printers { $predicate }
is_state = is { $state }
are_state = are { $state }
free_from = free from { $time }
needs_clear_bed = needs its bed cleared
need_clear_beds = need their beds cleared
next_try = { $predicate } (next attempt in { $seconds } s)
has_unconfirmed = has { $spool } { $place }: confirm that it is { $material }
have_unconfirmed = have { $spool } { $place }: confirm that it is { $material }
needs = needs { $objects }
need = need { $objects }
among_others = { $predicate }, among other things
is_other_machine =
    { $machine ->
        [fdm_standard] is not a standard filament printer
        [fdm_large] is not a large filament printer
        [resin_standard] is not a standard resin printer
        [resin_large] is not a large resin printer
        [laser_cutter] is not a laser cutter
       *[laser_engraver] is not a laser engraver
    }
are_other_machines =
    { $machine ->
        [fdm_standard] are not standard filament printers
        [fdm_large] are not large filament printers
        [resin_standard] are not standard resin printers
        [resin_large] are not large resin printers
        [laser_cutter] are not laser cutters
       *[laser_engraver] are not laser engravers
    }
rejects_format = does not accept .{ $ending } files
reject_format = do not accept .{ $ending } files
cannot_print_for = cannot print a file that was sliced for { $model }
they_cannot_print_for = cannot print a file that was sliced for { $model }
is_too_small = is too small for the print
are_too_small = are too small for the print
cannot_assign = cannot tell which filament in the file needs which material
they_cannot_assign = cannot tell which filament in the file needs which material
nozzle = a { $size } mm nozzle
nozzles = { $size } mm nozzles
plate = the build plate { $name }
loaded = { $material } loaded
material_at = { $material } { $place }
in_changer = { $material } in the filament changer
fuller_spool = a fuller spool of { $material } ({ $left } { $unit } left, { $need } { $unit } needed)
fuller_spools = fuller spools of { $material }
rejected = rejected the job: { $reason }
deleted_printer = a deleted printer { $predicate }
no_reason = no reason was given
its_material = its material
in_slot = in slot { $slot }
on_external_holder = on the external spool holder
slot = slot { $label }
external_spool = the external spool
slot_title = Slot { $label }
external_spool_title = External spool
standard_filament_printer = standard filament printer
large_filament_printer = large filament printer
standard_resin_printer = standard resin printer
large_resin_printer = large resin printer
laser_cutter = laser cutter
laser_engraver = laser engraver

## Why a printer takes no job, after "the printer is"

unready_manual_start = starting a manual print
unready_unverified = waiting to be checked
unready_finishing = finishing
unready_paused = paused
unready_starting = starting
unready_printing = printing
unready_other_print = printing something else
unready_deleted = deleted
unready_disconnected = disconnected
unready_wrong_key = rejecting the API key
unready_read_only = read-only
unready_connecting = connecting
unready_offline = offline
unready_maintenance = out of service
unready_maintenance_due = due for maintenance ({ $names })
unready_error = reporting an error
unready_fault = on hold after a firmware error
unready_not_homed = not homed
unready_bed = waiting for a clear bed
unready_disk_full = out of storage space
unready_refuses_starts = rejecting print starts

## What one printer lacks for a job

lacks_machine = its machine type is not { $machine }
lacks_format = .{ $ending } files are not accepted
lacks_model = its model is { $own }, but the file was sliced for { $required }
lacks_volume = its build volume of { $volume } is too small for a print of { $size }
lacks_nozzle = its nozzle is { $own } mm instead of { $required } mm
lacks_plate = its build plate is { $own } instead of { $required }
lacks_material = { $material } is not loaded
lacks_slot = { $material } is not { $place }, the only place this file can take it from
lacks_changer = { $material } must be in the filament changer: the external spool cannot be selected
lacks_filaments = it is unknown which material each filament in the file needs
lacks_amount = its spool has { $left } { $unit } of { $material } left, but the job needs { $need } { $unit }
spool_offer = ({ $slot } holds { $spool }, which is not assigned to a material yet; confirm that it is { $material })
printer_is = the printer is { $state }
size = { $x } × { $y } × { $z } mm

## Lists

more_names = { $count } more
