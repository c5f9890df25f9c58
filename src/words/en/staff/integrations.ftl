### The integrations page. Names, fields and tests of services are those of the setup wizard.
title = Integrations
text = All integrations are optional.
restart_needed = Restart needed
restart_text = Settings have changed since the server started. The fields show the values that apply after a restart.

## States

connected = Connected
no_calls = No calls yet
failing = Failing
off = Off
not_set_up = Not set up
failures_in_row =
    { $count ->
        [one] The last call failed.
       *[other] { $count } failures in a row.
    }
last_response = Last successful response: { $time }
no_response = No response yet.
works_without = Your shop works without it.

## Systems without a form

redis_about = Shares rate limits between servers and passes events to other programs.
smtp_about = Sends emails to customers and staff.
configure = Configure it in { $file } or { $environment } (section { $section }), or through the API.
accounting_text = Keeps your books. Set the client ID and secret in { $file } or { $environment } (section { $section }), then connect it through the API.
api_documentation = API documentation

## Form

edit = Test or edit
test_only = Test only
test_and_save = Test and save
nothing_saved = Nothing was saved.
success = Connection successful.
nothing_to_save = Connection successful. Nothing to save.
saved = Saved to { $file }.
restart_to_apply = Restart the server to apply the changes.
shadowed = { $setting } has no effect because { $source } overrides the file.
