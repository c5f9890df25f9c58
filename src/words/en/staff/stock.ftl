### Materials: the list, bins, the material's page with its ledger, the form, and claims of jobs.

## List

title = Stock
all_stock = All stock
slots_link = Slots
bins_link = Bins
labels_link = Labels
add_material = Add material
no_materials = No materials yet.
no_materials_advice = Add the filament, resin or sheets you have. Jobs reserve the amounts they need, and materials that run low are listed here.
none_match = No materials match.
show_all = Show all
level_filter = Stock level
level_all = All
level_low = Low
search_field = Name, brand or bin
search = Search

## Levels. Amounts have their units.

none_available = None available
low = Low
enough = Enough
to_order_heading = To order ({ $count })
# The level is one of the two below.
available_with_level = { $available } available, { $level }
reorder_level = reorder at { $point }
without_reorder_level = no reorder point
no_reorder_level = No reorder point
order_amount = order { $amount }
jobs_waiting =
    { $count ->
        [one] { $count } job is waiting
       *[other] { $count } jobs are waiting
    }
levels_note = Bars show reserved stock, then available stock. The vertical line is the reorder point.
materials_table = Materials
material_column = Material
level_column = Level
status_column = Status
on_hand = On hand
reserved = Reserved
available = Available
reorder_at = Reorder at
bin = Bin
# On phones, in place of columns. The level is “reorder at …” or “no reorder point”.
levels_line = { $on_hand } on hand, { $reserved } reserved, { $level }
levels_line_in_bin = { $on_hand } on hand, { $reserved } reserved, { $level }, in { $bin }

## Bins

bins_title = Bins
all_bins = All bins
no_bins = No bins yet. To create a bin, edit a material and enter a bin such as “Shelf A3”.
view_materials = View materials
materials_in_bin =
    { $count ->
        [one] { $count } material
       *[other] { $count } materials
    }
bin_labels = Bin labels
bin_contents = Contents
bin_empty = This bin is empty. To move a material here, edit the material and change its bin.
on_hand_and_available = { $on_hand } on hand, { $available } available
receive_material = Receive { $name }
print_label = Print label

## Page of a material

glance = At a glance
to_order = To order
brand = Brand
variant = Variant
vendor_code = Vendor code
cost_per = Cost per { $quantity }
also_tracked_in =
    { $system ->
        [spools] Also tracked in the spool system
       *[parts] Also tracked in the parts system
    }
needs_decision = needs a decision
edit = Edit
waiting_jobs = Waiting jobs ({ $count })
view_job = View job

## Deliveries, counts and losses

receive_heading = Receive
receive = Receive
receive_amount = Receive { $amount }
receive_amount_of = Receive { $amount } of { $name }
received_field = Amount received ({ $unit })
reason = Reason
# Usual reason for receiving stock, which the ledger shows.
delivery = delivery
adjust_heading = Adjust stock
count_stock = Count stock
count_note = The count replaces the stock on hand. If jobs have reserved more than that, the latest reservations are released.
counted_field = Counted amount ({ $unit })
save_count = Save count
write_off_stock = Write off stock
lost_field = Amount lost ({ $unit })
write_off = Write off
remove_heading = Remove
remove_summary = Remove material
remove_note = The material and its stock are no longer listed. The ledger is kept. You can't remove a material that a product, job or slot uses.
remove = Remove { $name }

## Ledger

ledger = Ledger
chart_limit = The chart shows the latest { $count } changes.
# Text of the chart for screen readers.
chart_summary = Stock on hand from { $from } to { $until }: between { $least } and { $most }; the reorder point is { $point }
changes_table = Stock changes
time_column = Time
change_column = Change
on_hand_column = On hand ({ $unit })
reserved_column = Reserved ({ $unit })
on_hand_after = On hand after
reserved_after = Reserved after
by_column = By
movement_received = Received
movement_corrected = Corrected
movement_reserved = Reserved for a job
movement_released = Released
movement_printed = Printed
movement_synchronised = Changed in another system

## Conflicts with systems that count the same material

record_print = Record print now
keep_count = Keep count
use_our_count = Use our count ({ $amount })
use_their_count = Use their count ({ $amount })

## Form for a material

edit_title = Edit { $name }
back_without_saving = Back without saving
name_field = Name
type_field = Type
filament = Filament (grams)
resin = Resin (millilitres)
laser_sheets = Laser cutter sheets
laser_consumables = Laser cutter consumables (units)
color_field = Colour
color_hint = For example, #1b1b22.
variant_hint = For example, matte or carbon fibre.
vendor_code_hint = The code that printers report for these spools.
bin_hint = As on the label of the shelf or bin, such as Shelf A3.
reorder_hint = Below this amount, the material is listed under “To order”, and new jobs may wait.
reorder_quantity = Reorder quantity
cost_field = Cost per kilogram, litre, sheet or unit
cost_hint = In { $currency }, such as 25.00 for a kilogram of filament. Used to calculate the cost of bad parts.
save = Save

## Claims of jobs, and prints that are not recorded. Amounts have their units.

claim_short = needs { $need } of { $name }, { $free } free
claim_behind_others = needs { $need } of { $name }, { $free } free, but other jobs are ahead of it
claim_below_reorder_point = needs { $need } of { $name }, which is below its reorder point: { $on_hand } on hand, { $point } needed in total
missing_booking = prints used { $amount } of spool { $spool }, but the printer's own server did not record it: for { $name }, decide whether to record it now or keep the count there

## Messages of the API for the forms

fault_decimals = must have at most three decimals
fault_too_large = is too large

## Reasons that the shop itself records for movements

reason_initial = initial stock
reason_count = stock count
reason_retired = spool { $spool } was retired
reason_sliced = sliced
reason_exceeded = { $consumed } used, { $on_hand } on hand
reason_changed_there =
    { $system ->
        [spools] changed in the spool system, { $name }
       *[parts] changed in the parts system, { $name }
    }
reason_accepted =
    { $system ->
        [spools] an operator accepted the count from the spool system, { $name }
       *[parts] an operator accepted the count from the parts system, { $name }
    }
