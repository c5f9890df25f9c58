### Pages of products, kits and files.

## List

list_title = Products
new_kit = New kit
new_sku = New product
skus_tab = Products and kits
files_tab = Files
files_total =
    { $count ->
        [one] { $count } file
       *[other] { $count } files
    }
no_sku_match = No products match.
show_all = Show all
product_column = Product
code_column = Code
product_and_code_column = Product and code
material_column = Material per part
price_column = Price
orderable_column = Can be ordered
# On phones, before “Yes” or “No”.
orderable_label = Orderable
no_skus_heading = No products yet
no_skus_text = A product is what you sell: its name, its price, the material for one part, and the G-code that prints a plate of parts.
no_skus_next = Upload G-code above, then add a product from it on the file's page. A kit combines parts of several products.
filters = Show
all_filter = All
offered_filter = Offered
withdrawn_filter = Withdrawn
kits_filter = Kits
search_field = Name or code
search = Search
kit_of =
    { $count ->
        [one] Kit of { $count } product
       *[other] Kit of { $count } products
    }
with_more_materials = { $material } and { $count } more
deleted_material = { $amount } of a deleted material

## Obstacles to ordering

orderable = Yes
not_orderable = No
partly_orderable = Partly
obstacle_withdrawn = it is not active and cannot be ordered
obstacle_not_public = it is not public, so only staff can order it
obstacle_no_file = it has neither G-code nor a model: customers cannot order it, and jobs that staff order are on hold until it has either
obstacle_no_profile = its model has no slicer profile: its jobs are on hold until it has a profile or G-code
obstacle_component_gone = a component was deleted or has become a kit, so it cannot be ordered
obstacle_component_withdrawn = its component { $component } is not active, so it cannot be ordered
obstacle_component_no_file = its component { $component } has neither G-code nor a model: customers cannot order it

## Kits

set_contents = Contents of one set
components = Components
parts_column = Parts
deleted_sku = Deleted product
complete_sets = Complete sets
sets_complete = { $good } of { $all } sets complete
shipped = { $count } shipped

## One product

all_products = All products
kits_with_sku = Kits with this product
glance = At a glance
slug = Slug
kind = Kind
collections = Collections
description = Description
added = Added
changed = Last changed
materials = Materials
material_amounts = Material amounts
per_part_column = Per part
per_plate_column = Per plate of { $parts }
printed_from = Printed from
plate_of_file = { $file }, plate { $plate }
no_plate = The file has no plate { $plate }.
no_gcode = No G-code.
no_gcode_but_model = No G-code: the model is sliced when the first job needs it.
model = Model
view_file = View file
slicer_profile = Slicer profile
machine = Machine
parts_per_plate = Parts per plate
time_per_plate = Print time per plate
size_of_plate = Size of a full plate
actions = Actions
edit = Edit
create_order = New order
view_jobs = View jobs
withdraw = Withdraw
withdraw_text = New orders can't include this product. Existing orders are still produced. You can offer the product again.
withdraw_sku = Withdraw { $name }
offer_again = Offer { $name } again
delete = Delete
delete_sku_text = This permanently removes the product from the catalogue. Existing orders and jobs keep its details. Its files are kept.
delete_named = Delete { $name }

## Types of machines

fdm_standard = filament printer
fdm_large = filament printer, large
resin_standard = resin printer
resin_large = resin printer, large
laser_cutter = laser cutter
laser_engraver = laser engraver

## Form for a product

edit_sku = Edit { $name }
back = Back
save = Save
save_and_order = Save and order one
cancel = Cancel
too_many_components = This kit has too many components for this form. They stay unchanged; use the API to edit them.
details = Details
name_field = Name
name_hint = Shown to customers.
code_hint = Short and unique, for staff.
price_hint = Excluding tax, such as 2.50 or 2,50.
currency_field = Currency
currency_hint = Three-letter code.
public_field = Visible to customers
catalogue = Catalogue
slug_hint = Used in web addresses. Leave empty to use the code.
kind_hint = Your own category.
collections_hint = Slugs, separated by commas.
pictures_field = Pictures
pictures_hint = URLs or IDs of uploaded pictures, one per line.
material_field = Material
choose_material = Choose a material
consumption_field = Material per full plate
consumption_hint = In the material's unit. The amount in the file takes precedence.
further_material_field = Additional material { $number }
further_amount_field = Amount per plate ({ $number })
further_filament_field = Filament in the file ({ $number })
further_filament_hint = Numbered from 0.
print_files = Print files
no_file = None
gcode_hint = Lists the newest files. For older files, start from the file's page.
plate_field = Plate in the file
model_hint = Sliced for the first job if there is no G-code.
profile_hint = The profile's name, used to slice the model.
minutes_field = Minutes per plate
minutes_hint = Used if the file has no print time.
width_field = Width in mm
width_hint = Leave empty to fit every printer.
depth_field = Depth in mm
height_field = Height in mm
components_hint = Enter the codes of products that aren't kits. Rows without a code are ignored.
component_field = Product { $number }
component_quantity_field = Quantity ({ $number })

## Files

gcode = G-code
picture = Picture
no_files_heading = No files yet
no_files_text = Upload G-code from your slicer. Its print time, weight and picture are read from the file. Then add a product from it.
no_files_slicer = Your slicer can also upload files directly: add this server to it as a print host. See the { $link }.
api_documentation = API documentation
no_file_match = No files match.
upload_files = Upload files
upload_kinds = G-code, models or pictures
drop_hint = You can also drop files anywhere on this page.
sending = Uploading…
sent = Uploaded. Reading the file…
upload_failed = Something went wrong. Try again.
upload_broken = The connection was lost, and nothing was saved. Upload the file again.
files_uploaded = { $number } of { $total } files uploaded.
set_file_type = Choose a file type
upload = Upload
file_name_field = Name
file_type = File type
models_filter = Models
camera_pictures_filter = Camera pictures
uploaded_pictures_filter = Uploaded pictures
picture_column = Picture
file_material_column = Material
print_act = Print…
file_column = File
time_column = Time
weight = Weight
size = Size
uploaded = Uploaded
plate_count =
    { $count ->
        [one] { $count } plate
       *[other] { $count } plates
    }
all_files = All files
slicer = Slicer
print_time = Print time
filament_length = Filament length
layers = Layers
dimensions = Dimensions
download = Download
plates = Plates
plate = Plate { $number }
plate_as_sliced = Plate { $number } as sliced
filaments = Filaments
any_kind = any kind
for_printer = For { $model }.
nozzle = Nozzle { $diameter } mm.
skus_of_file = Products using this file
none = None.
full_form = Add product using the full form
delete_file_text = You can't undo this. A file that a product or an unfinished job uses can't be deleted.
manual_print = Manual print
no_printer_fits = No printer accepts this file format.
manual_print_text = Printing starts immediately, outside the job queue: no stock is reserved, and the parts need no sign-off. Use jobs to print parts that customers ordered.
printer_field = Printer
printer_hint = Its bed must be clear, with the right filament loaded.
choose_printer = Choose a printer
print_named = Print { $name }

## Product from a file

create_sku = Add product
needs_material = A product needs a material from stock. Add the material first, then come back.
add_material = Add material
create_another = Add another product
price_field = Price ({ $currency })
net_price_hint = Excluding tax.
suggested_price_hint = Excluding tax. Suggested price for one print, based on your rates.
stated_consumption_field = Material per plate
stated_consumption_hint = Not included in the file.
email_field = Customer email
email_hint = Used if you also order one. Leave empty to send no emails.
create_and_order = Add and order one
facts = Filled in from the file: { $facts }.
