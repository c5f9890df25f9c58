### Anmeldung des Teams.

title = Anmelden
sign_in_there = Dort anmelden
for_staff = Für das Team des Betriebs.
email_field = E-Mail-Adresse
password_field = Passwort
code_field = Code aus Ihrer Authenticator-App oder ein Wiederherstellungscode
code_hint = Geben Sie auch das Passwort noch einmal ein.
sign_in = Anmelden
are_you_customer = Sind Sie Kundin oder Kunde? { $link }.
customer_link = Hier geht es zur Anmeldung
no_users = Noch keine Benutzer? Führen Sie diesen Befehl auf dem Server aus: { $command }
signed_in = Sie sind angemeldet
