### Spools and slots: the list of slots, and the page of a spool.

## Places and amounts. Amounts have their units.

in_slot = { $printer }, slot { $slot }
in_external_slot = { $printer }, external spool
left = { $amount } left
spool = Spool { $number }

## List of slots

slots_title = Slots
slots_table = Slot contents
no_printers = No printers yet.
open_floor = Open the floor
unknown = Unknown
reported_by_printer = (reported by printer)
change_contents_of = Change contents of { $place }
change = Change
contents_of = Contents of { $place }
printer_reports = The printer reports { $spool }.
remaining_in_unit_field = Remaining, in the material's unit
number_field = Spool number (optional)
save_contents = Save contents
mark_empty = Mark as empty
cancel = Cancel

## Spools of a material

of_material_heading = Spools
none_loaded = No spools are loaded.
no_number = No number
in_place = in { $place }
on_shelf = on the shelf
labels_link = Spool labels

## Page of a spool

all_stock = All stock
loaded = Loaded
shelf_status = On the shelf
details = Details
material = Material
material_unknown = Unknown. Choose a material when you load the spool.
remaining = Remaining
needs_decision = Needs a decision
not_recorded = Not recorded
loaded_in = Loaded in
print_label = Print label

## Loading

load_heading = Load
move_heading = Move to another slot
no_other_slots = No other slots. Add a printer first.
choose_material = Choose a material
place_field = Printer and slot
place_choice = { $place } ({ $content })
busy_place_choice = { $place } ({ $content }), busy
empty = empty
remaining_field = Remaining ({ $unit })
load = Load spool

## Weighing

weigh = Weigh
weighed_by_printer = The printer reports the remaining amount.
scale_field = Scale reading
empty_weight_field = Empty spool weight
or_remaining_field = Or the remaining amount
save_weight = Save weight

## Unloading

unload_heading = Unload
mark_unloaded = Mark as unloaded
write_on_spool = Write “{ $amount } left” on the spool, unless a spool system tracks it.
retire_number = Retire spool { $number }
retire_note = This marks its slot as empty.
write_off_field = Write off the remaining { $amount }
retire = Retire spool
