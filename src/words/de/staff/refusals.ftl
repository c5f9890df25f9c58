### Fehlerseiten für das Team und Meldungen von Fehlern in Formularen.

## Fehlerseiten

signed_out_title = Bitte melden Sie sich wieder an
signed_out_text = Ihre Sitzung ist beendet, und es wurde nichts geändert. Melden Sie sich an und versuchen Sie es noch einmal.
spent_link_title = Dieser Link funktioniert nicht mehr
spent_link_text = Melden Sie sich mit E-Mail-Adresse und Passwort an.
other_machine_title = Öffnen Sie diese Seite auf dem Server
other_machine_text = Auf anderen Rechnern melden Sie sich mit E-Mail-Adresse und Passwort an.
missing_title = Seite nicht gefunden
missing_text = Möglicherweise wurde sie entfernt. Beginnen Sie in der Werkstatt.
programs_title = Bitte melden Sie sich zuerst an
programs_text = Diese Seiten sind für Menschen. Programme verwenden die API.
admins_title = Nur für Admins
admins_text = Bitten Sie einen Admin um Hilfe.
printer_title = Der Befehl an den Drucker ist fehlgeschlagen
printer_text = Sehen Sie nach dem Drucker und versuchen Sie es noch einmal.
own_password_title = Aktuelles Passwort erforderlich
own_password_text = Ihr eigenes Passwort und die Anmeldung in zwei Schritten ändern Sie unter „Einstellungen“.
cross_site_title = Anfrage von einer anderen Website
cross_site_text = Die Anfrage kam von einer anderen Website. Öffnen Sie die Seite auf der Website dieses Betriebs und versuchen Sie es noch einmal.
outdated_title = Bitte versuchen Sie es noch einmal
outdated_text = Gehen Sie zurück, laden Sie die Seite neu und senden Sie das Formular noch einmal ab.
foreign_title = Das gehört zu einem anderen Kunden
foreign_text = Melden Sie sich mit der E-Mail-Adresse an, an die es gesendet wurde.
conflict_title = Das ist jetzt nicht möglich
conflict_text = Gehen Sie zurück und laden Sie die Seite neu, um den aktuellen Stand zu sehen.
too_large_title = Die Anfrage ist zu groß
too_large_text = Gehen Sie zurück und senden Sie eine kleinere Datei oder weniger Text.
too_many_title = Zu viele Anfragen
too_many_text = Warten Sie einen Moment und versuchen Sie es noch einmal.
unavailable_title = Vorübergehend nicht verfügbar
unavailable_text = Es ist nichts verloren gegangen. Versuchen Sie es in einer Minute noch einmal.
invalid_title = Das hat nicht geklappt
invalid_text = Gehen Sie zurück und beheben Sie das oben genannte Problem.
broken_title = Etwas ist schiefgegangen
broken_text = Versuchen Sie es später noch einmal. Einzelheiten stehen im Log des Servers.
sign_in = Anmelden
open_floor = Zur Werkstatt

## Meldungen der API, die auf Englisch sind, für die Formulare der übersetzten Seiten

wrong_credentials = Die E-Mail-Adresse oder das Passwort ist falsch.
second_factor_required = Geben Sie auch den Code aus Ihrer Authenticator-App ein.
wrong_code = Der Code ist falsch oder wurde schon verwendet. Warten Sie auf den nächsten.
too_many_codes = Es wurden zu viele falsche Codes eingegeben. Versuchen Sie es später noch einmal.
too_many_tries = Zu viele Versuche. Versuchen Sie es später noch einmal.
record_gone = Das gibt es nicht oder nicht mehr.
form_outdated = Das Formular ist veraltet. Laden Sie die Seite neu und senden Sie es noch einmal ab.
form_sent_before = Dieses Formular wurde bereits mit anderen Angaben abgesendet. Prüfen Sie, was gespeichert ist, laden Sie die Seite neu und senden Sie es noch einmal ab.
fault_too_short = muss mindestens { $least } Zeichen lang sein
fault_too_small = muss mindestens { $least } sein
fault_too_large = darf höchstens { $most } sein
fault_range = muss zwischen { $least } und { $most } liegen
fault_amount = muss ein Betrag sein, zum Beispiel 2,50 oder 1234,50
fault_amount_ambiguous = ist mehrdeutig: Ein Punkt oder Komma vor drei Ziffern kann Tausender oder Dezimalstellen trennen; schreiben Sie 1234,00 oder 1,23
fault_amount_precise = hat mehr Dezimalstellen als die Währung
