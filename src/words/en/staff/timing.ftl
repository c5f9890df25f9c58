### Timing of an order: its label, when it has to be ready and is expected to be, and what would have it ready in time.

on_time = On time
at_risk = At risk
late = Late
due_expected = due { $deadline }, now expected { $expected }
due_unknown = due { $deadline }, no forecast available
promised_expected = promised for { $deadline }, now expected { $expected }
promised_unknown = promised for { $deadline }, no forecast available

## Acts that have an order ready in time

raise_priority = Raise the order's priority to { $priority }
sign_off = Sign off { $jobs }
resume = Resume { $jobs } on { $printer }
clear_bed = Clear the bed of { $printer }
retry = Retry { $jobs }
load = Load { $materials } into { $printer }
return_to_service = Return { $printer } to service
remedy = { $request }: the order is then expected { $time }.
hopeless = No single step will get the order ready in time now.
hopeless_earliest = No single step will get the order ready in time now; it is expected { $time } at the earliest.

## Links and buttons to these acts

change_priority = Raise priority
open_printer = View printer
change_priority_of = Raise priority of { $order }
open_printer_for = View printer for { $order }
load_spool_for = Load spool for { $order }
view_job_of = View job of { $order }

## To-do page

kind_late_or_at_risk = Orders late or at risk
orders_at_risk =
    { $count ->
        [one] View { $count } order at risk
       *[other] View { $count } orders at risk
    }
