### Page of a printer, with its notes, and the pages on which a file is printed there manually.

## Top of the page

all_printers = All printers
manual_print = Manual print…
edit_or_remove = Edit or remove
history = History
now = Now
camera_view = Camera view of { $name }

## Cancelling, parts, emergency stop

cancel_question = Cancel { $print } on { $name }?
cancel_text = The print stops and its parts are lost. If it belongs to a job, the job must be printed again.
keep_printing = Keep printing
cancel = Cancel { $print } on { $name }
parts_heading = Parts on the bed
stop_heading = Emergency stop
stop_gentle = Printers of this type have no emergency stop that software can trigger. The print is ended as fast as possible, and the heaters are switched off if the printer allows it.
stop_text = This immediately cuts power to the motors and heaters. Afterwards, home the printer and clear its bed.
stop_warning = Software is not a safety device. In an emergency, switch the printer off or unplug it.
stop_name = emergency stop for { $name }
stop = Stop { $name } now
stop_hint = Hold for one second. Without JavaScript, a single press is enough.

## Service

service_heading = Service
done_hint = Saved in the maintenance log.
reason_field = Reason
put_back = Return to service
take_out = Take out of service
connect = Connect
disconnect = Disconnect

## Next jobs

queue_heading = Up next
ends = ends { $time }
more_jobs = and { $count } more
queue_note = A job is assigned to a printer when it starts, so another printer may take it first.

## Details

details_heading = Details
printer_type = Type
address = Address
location = Location
position = Position
row_and_column = row { $row }, column { $column }
tags = Tags
last_response = Last response
attention = Needs attention
bed_cleared = Bed cleared
code_label = QR code label

## Notes

notes_heading = Notes and maintenance log
note_hint = For the log or the next shift.
add_note = Add note
no_notes = No notes yet.
older_notes = and { $count } older
completed = Completed: { $names }
due = Due: { $name }
mark_done = Mark as done

## Printing a file manually

back_to = Back to { $name }
upload_heading = Manual print on { $name }
file_field = G-code
file_hint = You can check the file before it prints.
accepted_files = This printer accepts { $endings }.
upload = Upload
print_question = Print { $file } on { $name }?
file = File
print_time = Print time
material = Material
grams = { $grams } g
layers = Layers
size = Size
slicer = Slicer
check_again = Check again
print_now = Print now on { $name }
print_note = Printing starts immediately and uses the file as it is. A manual print isn't part of any job or order and doesn't affect stock.
filament_field = Slot for filament { $number }
filament_field_of = Slot for filament { $number } ({ $details })
automatic = Automatic
slot_with = { $slot }: { $spool }
unknown_spool = unknown
not_gcode = This file isn't G-code.
other_format = { $name } accepts { $endings }, not .{ $ending } files.
not_free = { $name } can't start a print now: { $reason }.
