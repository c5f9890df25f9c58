### Insights: key figures, findings, charts and their tables.

period = Period
period_days =
    { $days ->
        [365] 1 year
       *[other] { $days } days
    }

## Key figures and their comparison with the period before

key_figures = Key figures
better =
    { $days ->
        [365] Better: { $change } vs. the previous year
       *[other] Better: { $change } vs. the previous { $days } days
    }
worse =
    { $days ->
        [365] Worse: { $change } vs. the previous year
       *[other] Worse: { $change } vs. the previous { $days } days
    }
changed =
    { $days ->
        [365] { $change } vs. the previous year
       *[other] { $change } vs. the previous { $days } days
    }
same_as =
    { $days ->
        [365] Same as in the previous year
       *[other] Same as in the previous { $days } days
    }
no_data_for =
    { $days ->
        [365] No data for the previous year
       *[other] No data for the previous { $days } days
    }
no_data_among =
    { $days ->
        [365] No data for the previous year: { $names }
       *[other] No data for the previous { $days } days: { $names }
    }
points = { $change } points
print_time = Print time
first_pass_yield = First-pass yield
failure_rate = Failure rate
scrap_cost = Scrap cost
lead_time_median = Median lead time
lead_time_most = 80th-percentile lead time

## Periods without prints

empty_title = No prints in this period
empty_choose = Choose a longer period above. Prints are counted once they have ended.
view_orders = View orders
open_floor = Open the floor
no_printers = No printers yet. Figures appear once you have a printer, a material, a product made from it and a paid order.
sample_data = To see this page with sample data, run { $command }.
add_printer = Add a printer
add_material = Add a material
add_sku = Add a product

## Findings

findings_title = Worth a look
lowest_yield =
    { $prints ->
        [one] { $printer } has the lowest first-pass yield: { $share } of its parts were good the first time, in { $prints } print.
       *[other] { $printer } has the lowest first-pass yield: { $share } of its parts were good the first time, in { $prints } prints.
    }
costliest_scrap =
    { $parts ->
        [one] { $sku } has the highest scrap cost: { $cost } of material in { $parts } bad part.
       *[other] { $sku } has the highest scrap cost: { $cost } of material in { $parts } bad parts.
    }
growing_reason =
    { $days ->
        [365] { $earlier ->
            [0] More bad parts due to { $reason }: { $now }, up from none in the previous year.
           *[other] More bad parts due to { $reason }: { $now }, up from { $earlier } in the previous year.
        }
       *[other] { $earlier ->
            [0] More bad parts due to { $reason }: { $now }, up from none in the previous { $days } days.
           *[other] More bad parts due to { $reason }: { $now }, up from { $earlier } in the previous { $days } days.
        }
    }
quoted = “{ $text }”

## Charts and tables

as_csv = { $title } as CSV
nothing_yet = Nothing yet for: { $names }
table_of = { $title }: figures
empty_days =
    { $count ->
        [one] { $count } more day without prints
       *[other] { $count } more days without prints
    }
number = { $count }
parts =
    { $count ->
        [one] { $count } part
       *[other] { $count } parts
    }
orders =
    { $count ->
        [one] { $count } order
       *[other] { $count } orders
    }
unknown = unknown
deleted = deleted
no_reason = other or not given
up_to = up to { $span }
longer = longer
seconds = { $seconds } s
minutes = { $minutes } min { $seconds } s
whole_hours = { $hours } h
hours = { $hours } h { $minutes } min
whole_days = { $days } d
days = { $days } d { $hours } h

## Columns

day_column = Day
finished_column = Finished
failed_column = Failed
cancelled_column = Cancelled
printer_column = Printer
utilisation_column = Utilisation
prints_column = Prints
reason_column = Reason
product_column = Product
parts_column = Parts
good_column = Good
bad_parts_column = Bad parts
time_column = Time
material_column = Material
cost_column = Cost
used_column = Used
unit_column = Unit
orders_column = Orders
outcome_column = Outcome

## Titles of charts, with an explanation of the numbers

prints_title = Prints per day
prints_about = How many prints finished, failed or were cancelled on each day.
prints_scale =
    { $most ->
        [one] { $most } print on the busiest day; red: failed or cancelled
       *[other] { $most } prints on the busiest day; red: failed or cancelled
    }
utilisation_title = Printer utilisation
utilisation_about = Share of the period that each printer spent printing, counted from when it was added.
failures_title = Failed prints by reason
failures_about = As reported by printers or staff, for the last 1,000 failed prints.
first_pass_title = First-pass yield by product
first_pass_about = Share of good parts in first prints, excluding reprints.
scrap_title = Scrap and cost by product
scrap_about = Bad parts with their print time, their material and its cost at today's prices.
scrap_reasons_title = Bad parts by reason
scrap_reasons_about = Reasons given at sign-off.
material_title = Material used
material_about = Material used by all prints, good or bad. Bars compare materials with the same unit.
lead_time_title = Order lead time
lead_time_about = Time from payment to ready, for the newest 2,000 orders placed in this period.
promises_title = Promises kept
promises_about = Orders placed in this period: ready by the promised time, or late.
promise_kept = kept
promise_late = late
