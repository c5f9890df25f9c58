### Zugang: API-Schlüssel, Benutzer und die Seite eines Benutzers.

## API-Schlüssel

keys_title = API-Schlüssel
keys_text = Senden Sie einen Schlüssel im Header { $header }.
api_documentation = API-Dokumentation
new_key = Neuer Schlüssel
no_keys = Noch keine API-Schlüssel. Erstellen Sie für jedes Programm einen eigenen, damit Sie sie einzeln widerrufen können.
key_revoked = Widerrufen
key_expired = Abgelaufen
key_active = Aktiv
key_table = API-Schlüssel
name = Name
key_column = Schlüssel
status = Status
role = Rolle
last_used_column = Zuletzt verwendet
created_column = Erstellt
expires_column = Läuft ab
revoke = Widerrufen
never = Nie
revoke_text = Programme, die diesen Schlüssel verwenden, verlieren sofort den Zugriff.
revoke_key = { $name } widerrufen
key_name_hint = Das Programm, das den Schlüssel verwendet.
expiry = Ablauf
expiry_hint = Der letzte Tag, an dem der Schlüssel gilt. Leer lassen, wenn er nicht ablaufen soll.
customer = Kunde
customer_hint = E-Mail-Adresse des Kunden, auf dessen Bestellungen der Schlüssel zugreifen kann. Nur für die Rolle „Kunde“.
create_key = Schlüssel erzeugen
key_shown_once = Der Schlüssel wird nur einmal angezeigt, auf der nächsten Seite.
key_created = API-Schlüssel erstellt
key_for = Schlüssel für { $name }
copy_key = Kopieren Sie diesen Schlüssel jetzt. Er wird nicht noch einmal angezeigt.
view_keys = API-Schlüssel ansehen

## Rollen

operator = Bediener
admin = Admin
customer_role = Kunde
operator_option = Bediener: Bestellungen, Drucker und Lager
admin_key_option = Admin: alles
admin_user_option = Admin: alles, auch Benutzer und API-Schlüssel
customer_option = Kunde: eigene Bestellungen und der Katalog

## Benutzer

users_title = Benutzer
users_total = { $count } Benutzer
add_user = Benutzer hinzufügen
user_active = Aktiv
user_disabled = Deaktiviert
email = E-Mail-Adresse
email_hint = Dient zur Anmeldung.
second_factor_column = Anmeldung in zwei Schritten
second_factor_on = Ein
second_factor_off = Aus
last_seen_column = Zuletzt aktiv
not_signed_in_now = Nicht angemeldet
password = Passwort
password_hint = Mindestens 10 Zeichen.
share_password = Geben Sie das Passwort persönlich weiter. Es wird nicht per E-Mail gesendet. Admins können es jederzeit zurücksetzen.

## Ein Benutzer

account = Konto
access = Zugang
sessions = Sitzungen
not_signed_in = Nicht angemeldet.
role_hint = Wenn Sie die Rolle ändern, enden alle Sitzungen dieses Benutzers.
save = Speichern
disable_account = Konto deaktivieren
disable_text = { $name } wird überall abgemeldet und kann sich nicht mehr anmelden. Das Konto bleibt erhalten.
disable = { $name } deaktivieren
enable = { $name } aktivieren
own_account = Das ist Ihr eigenes Konto. Mit Ihrem aktuellen Passwort können Sie { $password } oder { $factor } ändern.
own_password_link = Ihr Passwort
own_factor_link = die Anmeldung in zwei Schritten
remove_account = Konto entfernen
remove_text = Das lässt sich nicht rückgängig machen. Was { $name } getan hat, bleibt im Protokoll.
remove = { $name } entfernen
reset_password = Passwort zurücksetzen
new_password = Neues Passwort
reset_password_hint = Wenn Sie das Passwort zurücksetzen, enden alle Sitzungen dieses Benutzers. Geben Sie das neue Passwort persönlich weiter.
turn_off_factor = Anmeldung in zwei Schritten ausschalten
turn_off_factor_text = Für Benutzer, die ihre App und die Wiederherstellungscodes verloren haben. { $name } wird überall abgemeldet und kann sich danach allein mit dem Passwort anmelden.
turn_off_factor_for = Für { $name } ausschalten

## Was in der Liste mit Benutzern geschieht

actions_column = Aktionen
your_account = Ihr Konto
reset_password_of = Passwort von { $name } zurücksetzen
change_role = Rolle ändern
make_admin = { $name } zum Admin machen
make_operator = { $name } zum Bediener machen
