### Parts that pages of all areas share.

total =
    { $count ->
        [one] { $count } entry
       *[other] { $count } entries
    }
newer = Newer
older = Older
shown_once = Shown only once
copy = Copy
recent_activity = Recent activity
open_audit_log = Open the audit log
list_end = { $rest } and { $last }

## Fields of forms

address_line_1 = Street and number
address_line_2 = Address line 2
postal_code = Postcode
city = City
region = State or region
country = Country (two-letter code)
good_parts = Good parts
bad_parts = Bad parts
report_bad_parts = Bad parts…
defect = Defect
amount = Amount
note = Note
expected_delivery = Expected delivery
reference = Reference
due_date = Due date
work_done = Note or work done
notes_to_customer = Notes to customer
internal_notes = Internal notes

## Sign-off of parts, and the emergency stop

picture_of_parts = Picture of the parts
no_defect = Not specified
defect_adhesion = adhesion
defect_warping = warping
defect_stringing = stringing
defect_layer_shift = layer shift
defect_spaghetti = spaghetti
defect_wrong_colour = wrong colour
defect_other = other
good = Good
bad = Bad
both_bad = Both bad
all_bad = All { $parts } bad
some_bad = { $parts } bad
both_good = Both good
all_good = All { $parts } good
sign_off = Sign off
emergency_stop = Emergency stop
hold_to_stop = Emergency stop for { $printer }: hold for one second
emergency_stop_of = emergency stop for { $printer }

## Lengths of time

span_minutes = { $minutes } min
span_hours = { $hours } h { $minutes } min
# In few letters, for the tiles of the floor.
compact_under_minute = < 1 min
compact_hours = { $hours } h { $minutes } min
compact_whole_hours = { $hours } h

## Lines of drafts

edit_line = Edit line { $number }: { $title }
save_line = Save line
remove_line = Remove line { $number }
add_line_title = Add a line
add_line = Add line

## First steps of a shop

get_started = Get started
get_started_text = Set up three things before your first print. After that, this page lists your tasks.
add_printer = Add a printer
add_printer_text = Enter its address. Admins can also search your network.
add_material = Add a material
add_material_text = Filament, resin or sheets, and how much you have.
add_sku = Add a product
add_sku_text = A product you sell, with its file, material and price.
step_done = Done
step_to_do = To do
first_orders = orders
get_started_note = Paid { $orders } then print automatically. To explore a busy shop first, run { $command }. It needs no printers and doesn't change this shop.
