### The settings: their overview, backups and restores.

## Overview

title = Settings
group_own = Your account
group_people = People and access
group_shop = Shop and connections
group_server = Server
keys = API Keys
keys_about = Give programs access to the API.
users = Users
users_about = Manage staff accounts and their roles.
account = My account
account_about = Choose the language of these pages.
password = My password
password_about = Change the password you sign in with.
second_factor = Two-step sign-in
second_factor_about = Sign in with a code from your phone in addition to your password.
sessions = Sessions
sessions_about = View and end sessions in other browsers.
audit = Audit log
audit_about = View changes and sign-ins, by user and time.
integrations = Integrations
integrations_about = Connect other systems and check their status.
emails = Emails
emails_about = View emails that were not delivered.
system = System
system_about = Check the status of the server, its database and its components.
backup = Backup
backup_about = Download a copy of your shop's data.
restores = Restores
restores_about = Review the shop after restoring a backup.
design = Design
design_about = Components of these pages, for developers.
setup = Setup
setup_about = Set up the database, printers, email and payments step by step.
factor_on = On
factor_off = Off
session_count =
    { $count ->
        [one] { $count } session
       *[other] { $count } sessions
    }
user_count =
    { $count ->
        [one] { $count } user
       *[other] { $count } users
    }
key_count =
    { $count ->
        [0] No active keys
        [one] { $count } active key
       *[other] { $count } active keys
    }
integration_count =
    { $count ->
        [0] None set up
       *[other] { $count } set up
    }
integration_failing = { $name } is failing
email_missing = Email is not set up
only_admins = Only admins can manage API keys, users and integrations.
no_restart = All settings are in effect. No restart needed.
restart = Restart
restart_needed = Needed
restart_text = Settings have changed since the server started. Restart it to apply them, for example with { $command }.
only_secrets = Only secrets have changed. Their values are not shown.

## Backup

nothing_downloaded = Nothing was downloaded.
download = Download
download_text = Download your shop's current data as a tar archive. The shop keeps running meanwhile.
download_backup = Download backup
scheduled_backups = Scheduled backups
backups_on = Interval: { $interval }. Stored in { $place }.
backups_off = The server makes no backups by itself. Set { $interval } and { $place } to turn them on.
last_backup = Last backup: { $time }
no_backup_yet = No backup has been made yet.
backup_retried = The last attempt failed: { $reason }. The server tries again every 15 minutes.
backup_included = Included
backup_database = { $file }: a verified snapshot of the database
backup_files = { $folder }: G-code, models and pictures
backup_documents = { $folder }: rendered invoices, if they are stored on this server
backup_manifest = { $file }: the row count of each table, and the size and SHA-256 of each file. It is the last file, so an archive without it is incomplete.
backup_not_included = Not included
backup_secrets = Server secrets: { $secrets } in the data directory, and { $environment }.
backup_secrets_copy = Keep a copy of both in another place.
backup_secrets_use = Without the same { $key } and { $salt }, the server does not start with this data, and the passwords and keys of printers and integrations in it cannot be read.
backup_other = { $file }, slicer profiles, emails written to the data directory, and exported tables
restore_backup = Restore a backup
restore_stop = Stop the server: { $command }
restore_settings = Put { $environment } and { $settings } back in their original location. The next step writes to the locations set in these files.
restore_data = Restore the backup into an empty data directory: { $command }
restore_data_and_database = Restore the backup into an empty data directory and an empty database, set in { $setting }: { $command }
restore_secrets = Copy { $file } to that directory.
restore_start = Start the server with that directory: { $command }
restore_review = Review the { $link }. Print jobs don't start until you do.
restore_review_link = restore
restore_test = Test a restore on another machine before you need one.

## Restores

never_restored = This shop has never been restored from a backup.
backup_from = Backup from { $time }
restored = Restored { $time }.
reviewed_by = Reviewed by { $person }, { $time }.
needs_review = Needs review
waiting_text = Your shop is in the state of this backup. Since then, it may have printed jobs, received payments and issued numbers that are missing here. Print jobs don't start until you finish this review.
open_jobs = Jobs that may already be printed ({ $count })
no_open_jobs = No jobs were open.
open_jobs_text = Check the printers and the shelf. Cancel jobs whose parts are already printed. The other jobs print after the review.
job_of = of { $order }
next_numbers = Next numbers
next_numbers_text = Check sent emails and customer documents for the last number issued in each series. Skipped numbers are recorded as a gap with a reason.
next_number = Next { $series } number (last in the backup: { $last })
note = Note
finish_review = Finish review and start jobs

## Messages of the API, which are in English, for the forms of these pages

backup_under_way = A backup is already in progress.
invalid_settings = The server or one of its integrations could not start with these settings.
backup_failed = Copying the database failed; see the server log.
