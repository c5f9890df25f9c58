### Jobs: their list, their pages, and their rows on the page of an order.

## List

title = Jobs
all_orders = All orders
none_yet_title = No jobs yet
none_yet_text = A job prints one build plate. Paid orders create jobs, which go to suitable printers automatically.
view_orders = View orders
none_match = No jobs match.
show_all = Show all
status = Status
filter_all = All
job_column = Job
product_column = Product
order_column = Order
printer_column = Printer
priority = Priority
progress_column = Progress
progress_of = Progress of { $number }
ended = ended { $time }
search_field = Job, order, product or file
all_printers = All printers
created_field = Created
any_time = Any time
today = Today
last_week = Last 7 days
last_month = Last 30 days
show = Apply
picture_column = Picture

## States

state_created = Waiting for a file
state_validated = Preparing
state_review = Waiting for review
state_sliced = Waiting for a printer
state_start_unverified = Start not confirmed
state_end_unverified = Outcome not confirmed
state_dispatching = Sending to a printer
state_printing = Printing
state_paused = Paused
state_unsigned = Needs sign-off
state_completed = Printed
state_failed = Failed
state_cancelled = Cancelled

## States on a printer that does not respond

no_answer = No answer from { $printer }
no_answer_since = No answer from { $printer } since { $time }
last_state = Last known state: { $state }

## Page of a job

job_title = Job { $number }
order_link = Order
all_jobs = All jobs
product_link = Product
file_link = File
materials = Materials
amount_of = { $amount } { $material }
amount_of_deleted = { $amount } of a deleted material
claim_held = reserved
claim_in_line = waiting for stock
claim_requested = requested
claim_none = not reserved
used_so_far = { $amount } used so far
compatibility = Printer compatibility
no_printers = No printers yet.
open_floor = Open the floor
printers = Printers
can_print_column = Can print
missing_column = Missing
slots_column = Slots
can_now = Now
can_later = Later
cannot_but_free = No (printer is free)
cannot = No
slot = Slot
slot_content = { $slot }: { $amount }
not_confirmed = (not confirmed as loaded)

## Row of a job

all_reasons = All reasons
printer_message = Printer message
cancelling = Cancelling: waiting for the printer to confirm.
order_line = Order line { $line }
parts =
    { $parts ->
        [one] { $parts } part
       *[other] { $parts } parts
    }
priority_of = Priority { $priority }
reprint_of_rejected = reprint of rejected parts
spare = { $needed } needed, { $spare } spare
due = due { $time }
expected = expected { $time }

## Prints

removed_printer = a removed printer
print_claimed = Print { $number } is assigned to { $printer }
print_uploading = Print { $number } is being sent to { $printer }
print_start_sent = Print { $number } is starting on { $printer }
print_confirmed = Print { $number } is running on { $printer }
print_finished = Print { $number } finished on { $printer }
print_failed = Print { $number } failed on { $printer }
print_cancelled = Print { $number } was cancelled on { $printer }
print_refused = Print { $number } was rejected by { $printer }
print_not_started = Print { $number } did not start on { $printer }
print_abandoned = Print { $number } on { $printer } was given up
print_from = from { $time }
print_to = to { $time }
good_of = { $good } of { $parts } good
end_picture = Picture at the end of print { $number }

## Actions

did_it_succeed = Did the print succeed? If it finished, all of its material is recorded as used. If it failed, { $percent }% is recorded, based on the last reported progress.
mark_not_started = Mark as not started
mark_finished = Mark as finished
mark_failed = Mark as failed
not_responding = Printer not responding?
not_responding_text = Check the printer, then choose how the print ended. The printer won't start another job until you clear its bed and confirm it.
pause = Pause
resume = Resume
release = Release
retry = Retry
reprint = Reprint
reprint_note = Good parts from this job will no longer count towards the order. The order goes back to Printing until replacements are made.
reprint_all = Reprint all parts
edit_or_cancel = Edit or cancel
cancel_text = Any print in progress stops, and the order will be missing this job's parts. You can retry the job while the order is open.
save = Save
cancel = Cancel { $number }
cancel_on = Cancel { $number } on { $printer }
no_confirmation = Don't wait for the printer to confirm
sign_off_parts = Sign off parts
