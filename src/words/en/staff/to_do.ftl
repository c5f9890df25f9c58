### To-do page.

title = To do
tasks =
    { $count ->
        [one] { $count } task
       *[other] { $count } tasks
    }
heading = { $title } ({ $count })
caught_up = You're all caught up
caught_up_text = Beds to clear, spools to load, parts to sign off and orders to pack appear here automatically, longest-waiting first.
open_floor = Open the floor

## Kinds of tasks

kind_restored = Restores to review
kind_seller = Invoices on hold
kind_beds = Beds to clear
kind_parts = Parts to sign off
kind_unverified = Prints to check
kind_paused = Paused prints
kind_troubles = Printers to check
more_out_of_service =
    { $count ->
        [one] { $count } more is out of service
       *[other] { $count } more are out of service
    }
kind_late = Late orders
kind_emails = Emails not delivered
kind_failed = Failed jobs
kind_review = Jobs to review
kind_spools = Spools to load
kind_waiting = Jobs no printer can take
kind_counts = Stock conflicts to resolve
kind_stock = Low stock
kind_pack = Orders to pack
kind_flagged = Orders to review
kind_due = Payments due
kind_unpaid = Failed payments

## Tasks

restored = The shop was restored from a backup
restored_text = No jobs start until an admin reviews the restore. Changes made after the backup are missing.
review_restore = Review restore
no_invoices = Invoices can't be issued
open_setup = Open setup
seller_gaps = invoices require the shop's { $gaps }; add the missing details in setup under Commerce, then restart the server
gap_name = name
gap_street = street and number
gap_city = city
gap_country = country
gap_vat_id = VAT ID with its country prefix
gap_tax_number = VAT ID or tax number
did_it_print = Did { $job } print on { $printer }?
paused_by_person = Paused by a person
paused_by_detection = Paused by failure detection
paused_at_printer = Paused at the printer
paused_by_printer = Paused by the printer: { $message }
mark_checked = Mark as checked
view_details = View details
view_job = View job
open = Open
open_order = Open { $order }
late_orders =
    { $count ->
        [one] View { $count } late order
       *[other] View { $count } late orders
    }

## Beds and parts

printers_freed =
    { $count ->
        [one] Frees { $count } printer
       *[other] Frees { $count } printers
    }
jobs_waiting =
    { $count ->
        [one] { $count } job is waiting
       *[other] { $count } jobs are waiting
    }
freed_and_waiting = { $printers }; { $jobs }
jobs_waiting_for_bed =
    { $count ->
        [one] { $count } job waiting for this bed
       *[other] { $count } jobs waiting for this bed
    }
select_all = Select all
beds_clear = Selected beds are clear and all parts are good
select = Select { $printer }
print_failed = Print failed
bed_clear = Bed is clear
promised_for = promised for { $time }
parts_on_plate =
    { $count ->
        [one] { $count } part on the plate
       *[other] { $count } parts on the plate
    }
all_good = All parts are good

## Jobs, stock and spools

retry = Retry
cancel = Cancel job…
release = Release
stock_left = { $available } available, reorder at { $point }
stock_without_level = { $available } available, less than the waiting jobs need
to_order = Order { $amount }
load = Load { $material } into { $printer }
load_spool_into = Load spool into { $printer }
into_printer = Into { $printer }
more_printers = { $count } more
load_spool = Load spool
jobs_can_start =
    { $count ->
        [one] { $count } job can start
       *[other] { $count } jobs can start
    }
jobs_need_more =
    { $count ->
        [one] { $count } job also needs another spool
       *[other] { $count } jobs also need other spools
    }
more_jobs = and { $count } more
confirm = Confirm { $material }
unlinked_spool = { $slot } contains { $spool }, which isn't linked to a material yet.
group =
    { $count ->
        [one] { $product }, { $count } job
       *[other] { $product }, { $count } jobs
    }
show_jobs =
    { $count ->
        [one] Show { $count } job
       *[other] Show { $count } jobs
    }

## Next hours

next_hours = Next hours
beds_until = Beds to clear by { $time }
beds_until_midnight = Beds to clear by midnight
no_beds = No beds to clear by then.
spools_to_change = Spools to change
no_spools = The loaded spools will last until then.
spool_by = { $material } in { $printer } by { $time }
orders_today = Orders due today
late_among = { $count } of them late
no_orders = No order is due today.
further = and { $count } more
others = { $count } more

## Done this shift

done_heading = Done this shift
done_since = Since { $time }
done_nothing = Nothing yet. Beds cleared, parts signed off, deliveries and shipments appear here.
done_by = { $person }: { $work }
done_parts =
    { $parts ->
        [one] { $good } of { $parts } part good
       *[other] { $good } of { $parts } parts good
    }
done_bad = { $bad } of { $parts } bad
done_bad_reason = { $bad } of { $parts } bad: { $reason }
done_beds =
    { $count ->
        [one] { $count } bed cleared
       *[other] { $count } beds cleared
    }
done_deliveries =
    { $count ->
        [one] { $count } material received
       *[other] { $count } materials received
    }
done_shipments =
    { $count ->
        [one] { $count } shipment
       *[other] { $count } shipments
    }
activity_nothing = No activity at printers or on jobs yet.
