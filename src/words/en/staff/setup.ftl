### The setup wizard: frame, steps, and the pages of each step.

## Frame and steps

skip_link = Skip to content
steps = Setup steps
step_count = Setup, step { $number } of { $count }
welcome = Welcome
database = Database and Queue
printers = Printer Discovery
integrations = Integrations
commerce = Commerce
review = Review and Launch
next = Next: { $title }
back = Back
leave_note = You can leave at any time. Settings that passed their tests are saved, and you can continue at this address.
save = Save

## Error pages

admins_title = Admin access required
admins_text = Sign in as an admin and open the page again.
outdated_title = Please try again
outdated_text = Go back, reload the page and submit the form again.
missing_title = Page not found
missing_text = Start with the first step.
completed_title = Setup is complete
completed_text = Sign in as an admin to change the settings.
fixed_title = Settings can't be saved here
fixed_text = Set the environment variables where this server is started.
unreadable_title = .env can't be read
unreadable_text = Fix the line named above and try again.
conflict_title = This isn't possible now
conflict_text = Go back and reload the page to see the current status.
too_many_title = Too many requests
too_many_text = Wait a moment and try again.
unavailable_title = Temporarily unavailable
unavailable_text = Nothing was lost. Try again in a minute.
invalid_title = That didn't work
invalid_text = Go back and fix the problem described above.
broken_title = Something went wrong
broken_text = Try again later. Details are in the server log.
open_setup = Open setup

## Entry

enter_title = Set up your shop
wrong_code = That code is incorrect. Use the code that the server printed at its last start.
code_spent = That code was already used, has expired or was tried too often. Restart the server to get a new one.
wrong_credentials = The email address or password is incorrect. Try again.
second_factor_required = Two-step sign-in is on for this account. Enter the code from your authenticator app too.
wrong_factor = That code is incorrect or was already used. Wait for the next one, or use a recovery code.
code_text = When the server started, it printed a one-time code in the line that begins with { $word }. Enter it to show that you have access to this server.
code_field = One-time code
code_hint = For example, { $sample }. To get a new code, restart the server.
completed_note = Setup is complete. Admins can run it again.
or_sign_in = Or sign in
sign_in_text = Already added the admin? Sign in to continue.
email_field = Email address
password_field = Password
factor_field = Code from your authenticator app, or a recovery code
factor_hint = Only if two-step sign-in is on for your account.
sign_in = Sign in
no_admin = Setup is complete, but no admin can sign in. Add one on the server:

## Welcome

welcome_text = Go from a new server to your first print in six steps. The server runs in { $mode } mode.
mode_production = production
mode_development = development
current_heading = Current configuration
current_text = Read from { $file }, the environment and other settings. The next steps show these values and keep the ones you don't change.
admin_heading = Add the first admin
admin_text = Admins can do everything here. You will be signed in with this account.
name_field = Name
password_hint = At least 10 characters.
create_admin = Add admin and continue
time_zone_heading = Time zone
time_zone_fault = “{ $name }” is not a time zone of this server; use a name such as “Europe/Berlin” or a rule such as “CET-1CEST,M3.5.0,M10.5.0/3”

## Database

database_text = Connect the shop's database and, if you run several servers, the store they share. Both connections are tested before you continue.
test_both = Test both connections
other_database = A different database starts empty.
other_database_text = After the final restart, the server prints a new code and asks you to add the admin and printers again.
both_must_pass = Both connections must pass their tests before you can continue.

## Printers

printers_text = The search covers this server and all addresses on its local network. It usually takes less than a minute. Add printers on other networks manually.
search = Search for printers
cancel_search = Cancel search
reload_text = { $link } to see the progress.
reload_link = Reload the page
added_heading = Added printers
none_added = None yet. You can continue and add printers later.
program_at = { $program } at { $address }
add_manually = Add a printer manually
search_running =
    { $count ->
        [0] Searching: no printers found so far.
        [one] Searching: { $count } printer found so far.
       *[other] Searching: { $count } printers found so far.
    }
search_complete =
    { $count ->
        [0] Search complete: no printers found.
        [one] Search complete: { $count } printer found.
       *[other] Search complete: { $count } printers found.
    }
search_cancelled =
    { $count ->
        [0] Search cancelled: no printers found.
        [one] Search cancelled: { $count } printer found.
       *[other] Search cancelled: { $count } printers found.
    }
checked = Addresses and ports checked: { $done }
checked_of = Addresses and ports checked: { $done } of { $total }
none_found = No printers found on this server or on its local network. Check that your printer is switched on and on the same network. If it is on another network, add it manually.
added = Added
add_named = Add { $name }
add_heading = Add a printer
test_and_add = Test and add
cancel = Cancel

## Integrations and commerce

integrations_text = Connect other systems to your shop. All of them are optional.
commerce_text = Your invoice details, payments and customer emails. Everything here is optional for now: skip anything you don't have yet.
set_up_service = Set up
change_service = Change
test_and_save = Test and save
seller_heading = Shop details on invoices
seller_text = By law, an invoice must name its issuer. It can't be changed once it has a number. Until you fill this in, orders are produced but their invoices stay on hold.
seller_saved = Saved.
seller_saved_text = Your invoices will show these details.
seller_missing = Missing
seller_complete_unwritten = Complete, not written yet
seller_complete = Complete

## Test of a service

not_tested = Not tested because this field is empty.
fill_in_first = Fill this in first.
unused_text = Your shop won't use this service.
test_passed = Test passed.
test_failed = Test failed.
test_details = Details:
enter_address = Enter an address to test.

## Review

nothing_saved = Nothing was saved.
summary_heading = Summary
changes_heading = Changes to .env
no_changes = No changes.
removed = removed
set_not_shown = set, not shown
backup_text = The previous file is kept as .env.bak. New values take effect after a restart.
write = Write .env and finish
write_text = All settings are tested again before they are written. After that, only admins can open the setup.
correct_value = Go back to the step with this value and correct it.

## Page after the last step

done_title = Your shop is set up
first_print_heading = First print
next_heading = Next steps
next_floor = See your printers live
next_floor_link = Open the floor
next_api = Manage orders, jobs, stock and printers over the API
next_api_link = Open the API documentation
next_services = Check that all services respond
next_services_link = Check service status
next_settings = Change these settings
next_settings_link = Run setup again
printing = Printing.
printing_text = { $name } has started the test print.
uploading = Uploading.
uploading_text = The file is being sent to { $name }.
print_refused = Check that the printer is switched on and idle and that its bed is clear. Then try again.
all_in_effect = All settings are in effect.
written_heading = Written to { $file }
no_changes_needed = No changes were needed.
shadowed = { $setting } has no effect: { $source } overrides the file. Remove it there.
restart_heading = Restart the server
no_restart = Not needed: all written settings are in effect.
restart_text = Restart the server to apply these settings: press Ctrl+C and run the same command again, or run { $command }.
no_printers = No printers yet. { $link } and come back.
no_printers_link = Add one
test_print_text = Prints a flat 20 mm square in PLA in about two minutes, with the nozzle at 200 °C and the bed at 60 °C. Clear the bed and load PLA first, and stay with the printer.
print_test_part = Print a test part on { $name }
packages_only = Accepts sliced packages only. Start a test print on the printer's screen.

## Progress of the test print

print_starting = The print on { $name } is about to start.
print_not_started = The print on { $name } did not start: { $reason }.
print_running = { $name } is printing.
print_paused = { $name } is paused.
print_finished = The print on { $name } is finished. Remove the part from the bed.
print_ended_early = The print on { $name } ended early. Check the printer before you try again.
print_faulty = { $name } reports an error. Check the printer.
print_offline = { $name } is not responding. Check that it is switched on and on the network.
progress_of = Progress of { $name }
minutes_left = about { $minutes } min left
open_printer = Open { $name }
