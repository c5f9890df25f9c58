### Das eigene Konto: Sprache, Passwort, Anmeldung in zwei Schritten, Sitzungen.

## Konto

account_title = Mein Konto
signed_in_as = Angemeldet als { $email }.
language_field = Sprache
language_of_browser = Sprache des Browsers
language_hint = Seiten, die noch nicht übersetzt sind, erscheinen auf Englisch.
save = Speichern
password_link = Passwort ändern

## Passwort

password_title = Mein Passwort
current_password_field = Aktuelles Passwort
new_password_field = Neues Passwort
new_password_hint = Mindestens 10 Zeichen.
change_password = Passwort ändern
password_note = Wenn Sie das Passwort ändern, enden alle Ihre anderen Sitzungen.

## Anmeldung in zwei Schritten

factor_title = Anmeldung in zwei Schritten
factor_on = Die Anmeldung in zwei Schritten ist eingeschaltet. Sie melden sich mit Ihrem Passwort und einem Code aus Ihrer Authenticator-App an.
factor_on_since = Eingeschaltet: { $time }.
recovery_codes_left =
    { $count ->
        [one] Sie haben noch einen Wiederherstellungscode.
       *[other] Sie haben noch { $count } Wiederherstellungscodes.
    }
recovery_codes_use = Wenn Sie die App verlieren, können Sie sich mit jedem Code einmal anmelden.
turn_off_heading = Ausschalten
turn_off_code_field = Code aus der App oder ein Wiederherstellungscode
turn_off = Anmeldung in zwei Schritten ausschalten
turn_off_note = Um die App zu wechseln oder neue Wiederherstellungscodes zu erhalten, schalten Sie die Anmeldung in zwei Schritten aus und richten Sie sie neu ein.
factor_off = Melden Sie sich mit Ihrem Passwort und einem Code aus einer Authenticator-App an, damit ein gestohlenes Passwort allein nicht genügt.
set_up = Einrichten
qr_code = QR-Code für eine Authenticator-App
scan_heading = 1. Konto in der App hinzufügen
scan_text = Scannen Sie diesen QR-Code mit einer Authenticator-App auf Ihrem Smartphone.
secret_text = Oder geben Sie diesen Schlüssel in der App ein: { $key }
secret_note = Dieser Schlüssel wird nicht noch einmal angezeigt.
enter_code_second_heading = 2. Code eingeben
enter_code_heading = Code eingeben
code_field = Code aus der App
turn_on = Anmeldung in zwei Schritten einschalten
start_over = Neu beginnen
turned_on = Die Anmeldung in zwei Schritten ist eingeschaltet. Alle Ihre anderen Sitzungen wurden beendet.
recovery_codes_heading = Wiederherstellungscodes
recovery_codes_text = Drucken Sie diese Codes jetzt aus oder schreiben Sie sie auf; sie werden nicht noch einmal angezeigt. Wenn Sie die App verlieren, können Sie sich mit jedem Code einmal anmelden.
codes_saved = Ich habe die Codes gesichert

## Sitzungen

sessions_title = Sitzungen
sessions_of_shop = Browser, die bei diesem Betrieb angemeldet sind.
sessions_of_account = Browser, die mit Ihrem Konto angemeldet sind.
sessions_advice = Beenden Sie jede Sitzung, die Sie nicht kennen; der Browser wird sofort abgemeldet.
user_column = Benutzer
browser_column = Browser
last_used_column = Zuletzt verwendet
signed_in_column = Angemeldet
end_column = Beenden
this_browser = Dieser Browser
browser_unknown = Unbekannt
end_session = Beenden
end_session_of = Sitzung von { $email } beenden
