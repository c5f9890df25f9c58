### The floor: all printers, in sections or on a plan of the rooms.

title = Floor
back = Back to the floor
no_match = No printers match.
show_all = Show all printers
stop_note = To stop a printer immediately, hold its red octagon for one second. This cuts power to the motors and heaters as far as the printer allows.
safety_note = Software is not a safety device. In an emergency, switch the printer off or unplug it.

## Head. The labels of filters follow a number

filter_label = Filter printers
filter_all =
    { $count ->
        [one] printer
       *[other] printers
    }
filter_attention = needing attention
filter_printing = printing
filter_ready = ready
filter_offline = offline
printers = Printers
search = Search printers
list = List
plan = Plan
wall = Wall
add_printer = Add printer
view = View
group_by = Group by
by_state = State
by_place = Location
by_model = Model
density = Density
automatic = By number of printers
comfortable = Comfortable
compact = Compact
dense = Dense
large = Large
apply = Apply
next_free = Next free { $time } · { $printer }
up_next = Next
waiting = { $count } waiting
nothing_waiting = No jobs are waiting for a printer.

## Sections

group_attention = Needing attention
group_printing = Printing
group_ready = Ready
group_offline = Offline or out of service
no_place = No location
no_model = No model

## Wall: controls of its pages, which turn by themselves

wall_pages = Pages
wall_page = { $page } of { $pages }
previous_page = Previous page
next_page = Next page
wall_pause = Pause
wall_resume = Resume

## Plan

plan_of = Plan of { $place }
plan_without_place = Plan of printers without a location
column = Column { $number }
row = Row { $number }
position_note = To position a printer, choose “Edit or remove” in its menu.

## Shop without printers

empty_title = No printers yet
empty_text = Each printer gets a card here with its current print, its remaining time and any action it needs. To get started:
first_printer = { $link }. Its card appears here and updates live.
first_printer_link = Add a printer
first_material = { $link } and record the stock you have.
first_material_link = Add a material
first_product = { $link } with a G-code file, so that customers can order it.
first_product_link = Add a product
demo_note = To explore first, run { $command } on this server. It starts a simulated shop with working printers.
api_note = Everything here is also available through { $link }.
api_link = the API

## Upload of a file that is dropped on a card

upload_failed = The file was not accepted.
upload_busy = Another file is still being uploaded.
uploading = Uploading { $file } for { $printer }
cancel_upload = Cancel upload
upload_silent = The server is not responding. Try again.
upload_cancelled = Upload cancelled.
one_file = Drop one file at a time.
