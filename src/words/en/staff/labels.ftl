### Page for choosing labels with QR codes, and the labels.

title = Labels
all_stock = All stock
about = Each label has a QR code. Scan a printer's label with a phone to clear its bed, a spool's label to load the spool into a slot, or a bin's label to see its contents.
codes_begin = QR codes start with { $address }.
unreachable = Phones can't open this address. Open this page at the server's network address, or set { $setting }.
paper = Paper
roll = Label printer, 62 × 29 mm
sheet = A4 sheet to cut out
first_of = Showing the first { $shown } of { $count }.
create = Print labels

## Printers, spools and bins

printers = Printers
no_printers = No printers yet.
open_floor = Open the floor
spool = Spool { $number }
spool_of = Spool { $number }, { $material }
spools = Existing spools
no_spools = No numbered spools are loaded or tracked by a spool system.
bins = Bins
no_bins = No bins yet. To create a bin, edit a material and enter a bin.

## New spools

new_spools = New spools
new_spools_elsewhere = Your spool system assigns the numbers, so add new spools there. They appear below once their material is linked to its filament there.
no_materials = Add a material first.
go_to_stock = Go to stock
new_spools_about = Each spool gets a new number. Enter its remaining amount when you load it into a slot.
material_field = Material
count_field = Quantity
