### E-Mails an das Team.

## Rahmen

staff_footer = Sie erhalten diese E-Mail, weil Sie { $shop } verwalten.

## Mehrere Meldungen in einer E-Mail

endpoints_disabled = { $count } Webhook-Endpunkte deaktiviert
jobs_failed = { $count } Druckaufträge fehlgeschlagen
low_stock_alerts = Knapper Bestand: { $count } Meldungen
stock_discrepancies = Abweichender Bestand: { $count } Meldungen
unmatched_payments = { $count } Zahlungen passen zu keiner Bestellung
unsettled_orders = Bei { $count } Bestellungen ist eine Zahlung oder Erstattung zu klären
flagged_orders = Bestellungen: { $count } Meldungen
late_orders = { $count } Bestellungen sind verspätet
flagged_printers = Drucker: { $count } Meldungen
custom_requests = { $count } Anfragen
accounting_issues = Buchhaltung: { $count } Meldungen
flagged_integrations = Integrationen: { $count } Meldungen
failed_backups = { $count } fehlgeschlagene Sicherungen
not_listed =
    { $count ->
        [one] Eine weitere Meldung ist hier nicht aufgeführt.
       *[other] { $count } weitere Meldungen sind hier nicht aufgeführt.
    }

## Links

endpoint_link = Endpunkt aktivieren
job_link = Druckauftrag erneut versuchen oder abbrechen
stock_link = Bestand hinzufügen
discrepancy_link = Bestand korrigieren
payments_link = Zahlungen ansehen
orders_link = Bestellungen öffnen
late_orders_link = Verspätete Bestellungen anzeigen
printers_link = Drucker öffnen
requests_link = Anfragen öffnen
postings_link = Nicht gebuchte Dokumente ansehen
integrations_link = Integrationen ansehen
backup_link = Sicherung herunterladen

## Webhook-Endpunkte

endpoint_disabled_subject = Webhook-Endpunkt nach { $attempts } Versuchen deaktiviert: { $url }
endpoint_disabled =
    Die Zustellung an { $url } wurde eingestellt: { $reason }.
    Die Ereignisse bleiben erhalten und werden gesendet, sobald der Endpunkt wieder aktiviert ist.

## Druckaufträge

job_failed_subject = { $job } fehlgeschlagen: { $error }
job_failed = Der Druckauftrag { $job } ({ $product }) der Bestellung { $order } ist fehlgeschlagen: { $error }.
job_failed_advice = Versuchen Sie ihn erneut oder brechen Sie ihn ab; er wird nicht automatisch wiederholt.
not_sliced_subject = { $job } kann nicht geslict werden
several_not_sliced_subject =
    { $count ->
        [one] { $job } und ein weiterer Druckauftrag können nicht geslict werden
       *[other] { $job } und { $count } weitere Druckaufträge können nicht geslict werden
    }
not_sliced =
    Das Modell von { $product } kann mit dem Profil { $profile } nicht geslict werden: { $error }.
    Korrigieren Sie das Modell oder das Profil und geben Sie die Druckaufträge dann frei; sie werden nicht automatisch erneut geslict.

## Lager

low_stock_subject = Knapper Bestand: { $name }, noch { $available }
low_stock = { $name }: { $available } von { $on_hand } im Lager verfügbar, weniger als der Meldebestand von { $point }.
short_stock = { $name }: { $available } von { $on_hand } im Lager verfügbar, weniger als ein wartender Druckauftrag braucht.
jobs_held = Neue Druckaufträge, die dieses Material brauchen, warten, bis Bestand hinzugefügt wird.
usual_order = Die übliche Bestellmenge ist { $amount }.
discrepancy_subject = Abweichender Bestand: { $name }, { $missing } fehlen
used_beyond_stock = Drucke haben von { $name } { $amount } mehr verbraucht, als im Lager war. Bitte zählen Sie den Bestand.
reserved_beyond_stock = Von { $name } sind { $on_hand } im Lager, aber { $reserved } für Druckaufträge reserviert. Bitte zählen Sie den Bestand und bestellen Sie nach.

## Zahlungen ohne Bestellung

unmatched_money =
    { $kind ->
        [refund] Erstattung
       *[payment] Zahlung
    }
unmatched_amount =
    { $kind ->
        [refund] Erstattung über { $amount }
       *[payment] Zahlung über { $amount }
    }
unmatched_subject = Eine { $money } passt zu keiner Bestellung
unmatched = Der Zahlungsdienst meldet eine { $money }, die zu keiner Bestellung passt (Ereignis { $event }).
unmatched_retries = Die Zuordnung wird { $days } Tage lang bei jeder neuen Bestellung und stündlich erneut versucht.
unmatched_names = Darin genannt: { $names }.
never_matched_subject = Eine { $money } passte { $days } Tage lang zu keiner Bestellung
never_matched = Das Zahlungsereignis { $event } passte { $days } Tage lang zu keiner Bestellung; die Zuordnung wird nicht mehr versucht.
never_matched_advice = Bitte sehen Sie beim Zahlungsdienst nach.

## Bestellungen und Rechnungen mit Handlungsbedarf

flag_name =
    { $flag ->
        [refund_due] Erstattung fällig
        [amount_mismatch] Zahlungsbetrag weicht ab
        [refund_failed] Erstattung fehlgeschlagen
        [disputed] Zahlung angefochten
        [dispute_lost] Rückbuchung nach Anfechtung
        [all_jobs_cancelled] alle Druckaufträge abgebrochen
        [short] weniger gute Teile als bestellt
        [needs_attention] Ausschuss nicht nachgedruckt
        [seller_incomplete] für die Rechnung fehlen Name und Anschrift des Betriebs
        [rejected_after_shipping] versendete Teile sind Ausschuss: Ersatz senden
        [surplus] Nachdruck nicht mehr nötig
        [job_failed] Druckauftrag fehlgeschlagen
       *[other] Handlungsbedarf
    }
order_flag_subject = { $number }: { $flag }
order_flag = Bei der Bestellung { $number } besteht Handlungsbedarf: { $reason }.
invoice_flag_subject = Rechnung an { $name }: { $flag }
invoice_flag = Bei der Rechnung { $invoice } an { $name } besteht Handlungsbedarf: { $reason }.
not_ordered_subject = Das Angebot { $quote } wurde angenommen, aber seine Bestellung kann nicht angelegt werden
not_ordered = Das Angebot { $quote } wurde angenommen, aber seine Bestellung konnte nicht angelegt werden: { $reason }. Beheben Sie das Problem; die Bestellung wird angelegt, wenn das Angebot erneut angenommen wird.

## Bestellungen aus Vertriebskanälen

held_sale_subject = Die bezahlte Bestellung { $number } aus einem Vertriebskanal ist angehalten
held_sale = Sie ist gespeichert und wird so bald wie möglich produziert.
unmapped_variants = In der Variantenzuordnung fehlt ein Eintrag für { $names }.
conflict_subject = Widersprüchliche Änderungen an der Bestellung { $number } aus einem Vertriebskanal
conflict = Widersprüchliche Änderungen an der Bestellung { $number } aus einem Vertriebskanal (hier Bestellung { $order }): { $reason }.
unreported_shipment_subject = Eine Sendung der Bestellung { $number } aus einem Vertriebskanal konnte nicht dorthin gemeldet werden
unreported_shipment =
    Dem Vertriebskanal ist die Sendung { $shipment } seiner Bestellung { $number } (hier Bestellung { $order }) nicht bekannt: { $reason }
    Tragen Sie sie dort manuell ein oder versuchen Sie es erneut.

## Verspätete Bestellungen

late_subject = { $number } verspätet sich
late_order = Bestellung { $number }
late_order_of = Bestellung { $number } für { $customer }
due_expected = { $order }: fällig am { $deadline }, nun voraussichtlich am { $expected } fertig.
due_unknown = { $order }: fällig am { $deadline }, und die Fertigstellung lässt sich nicht vorhersagen.
promised_expected = { $order }: zugesagt für den { $deadline }, nun voraussichtlich am { $expected } fertig.
promised_unknown = { $order }: zugesagt für den { $deadline }, und die Fertigstellung lässt sich nicht vorhersagen.

## Drucker

unreachable_subject = Drucker nicht erreichbar: { $name }
unreachable = { $name } ist nicht erreichbar: { $reason }.
last_response = Der Drucker hat zuletzt am { $at } geantwortet.
never_responded = Der Drucker hat noch nie geantwortet.
job_held = Sein Druckauftrag ist angehalten, bis der Drucker wieder antwortet oder jemand vom Team den Druckauftrag klärt.
leftover_subject = Unerwarteter Druck einer alten Datei: { $name }
leftover = { $name } druckt { $file }, eine Datei eines beendeten Druckauftrags. Der Druck wurde nicht von hier gestartet: Manche Drucker starten eine gespeicherte Datei nach einem Stromausfall erneut, oder jemand hat ihn am Drucker gestartet. Die Teile zählen für keine Bestellung. Stoppen Sie den Druck am Drucker, wenn er nicht erwünscht ist.
fault_subject = Störung am Drucker: { $name }
fault =
    Die Firmware von { $name } meldet: { $report }

    Auf dem Drucker startet kein weiterer Druckauftrag, bis jemand den Drucker geprüft und das bestätigt hat.
suspicion_subject = Möglicher Fehldruck: { $name }
suspicion = Die Fehldruckerkennung ist zu { $percent }{ "\u00A0" }% sicher, dass der Druck auf { $name } misslingt.
print_paused = Der Druck wurde pausiert: Prüfen Sie ihn und setzen Sie ihn dann fort oder brechen Sie ihn ab.
print_not_paused = Der Druck konnte nicht pausiert werden: Prüfen Sie ihn sofort.
print_continues = Der Druck läuft weiter: Prüfen Sie ihn.

## Wartung

maintenance_subject = Wartung bei { $printer } fällig: { $task }
maintenance = { $task } ist bei { $printer } fällig: { $reason } seit dem letzten Mal.
maintenance_blocks = Der Drucker nimmt keine Druckaufträge an, bis die Arbeit erledigt und eingetragen ist.
maintenance_can_wait = Der Drucker nimmt weiterhin Druckaufträge an; tragen Sie die Arbeit ein, wenn sie erledigt ist.
hours_reached = { $done } von { $every } Druckstunden
prints_reached = { $done } von { $every } Drucken
grams_reached = { $done } von { $every } Gramm Material
failures_reached = { $done } von { $every } Fehldrucken

## Anfragen

request_subject = Anfrage von { $customer }: { $product }, { $total }
request =
    { $photos ->
        [one] { $customer } <{ $email }> fragt { $product } an ({ $wishes }), mit einem Foto.
       *[other] { $customer } <{ $email }> fragt { $product } an ({ $wishes }), mit { $photos } Fotos.
    }
wishes =
    { $colors ->
        [one] { $subject }, Stil { $style }, Größe { $size }, Sockel { $base }, eine Farbe
       *[other] { $subject }, Stil { $style }, Größe { $size }, Sockel { $base }, { $colors } Farben
    }
phone_line = Telefon: { $text }
inscription_line = Inschrift: { $text }
notes_line = Anmerkungen: { $text }
estimate = Geschätzter Preis: { $total }, gültig bis zum { $until }.
unpriced = Nicht in den Preistabellen, mit Standardwerten geschätzt: { $names }.
request_advice = Prüfen Sie die Anfrage und beantworten Sie sie mit einem Angebot.

## Buchhaltung

reconnect_subject = Buchhaltung neu verbinden
reconnect =
    Bezahlte Rechnungen und Rechnungskorrekturen werden nicht mehr an die Buchhaltung gesendet: { $reason }.

    Ein Admin, dessen E-Mail-Adresse auch die eines Kundenkontos ist, kann sie unter { $url } neu verbinden. Bis dahin ausgestellte Dokumente werden dann gesendet.
not_posted_subject = { $number } wurde nicht gebucht
not_posted =
    Die Buchhaltung hat { $number } abgelehnt: { $error }.

    Beheben Sie das Problem dort oder in den Einstellungen und senden Sie das Dokument dann erneut. Alles andere läuft weiter.

## Integrationen

integration_subject = Integration mit Handlungsbedarf: { $name }
integration =
    Die Integration { $name } antwortet, aber ihre Antworten sind nicht verwendbar: { $reason }.

    Jemand muss das beheben: Prüfen Sie dort die Berechtigungen ihres Tokens oder ändern Sie ihre URL oder ihr Token unter { $url }. Sie werden nur dann erneut benachrichtigt, wenn das Problem nach der Behebung wieder auftritt.

## Sicherungen

backup_subject = Sicherung fehlgeschlagen
backup =
    Der Server konnte die geplante Sicherung nicht anlegen: { $reason }.

    Er versucht es alle 15 Minuten erneut. Prüfen Sie den Ablageort der Sicherungen unter { $url }; dort können Sie auch eine Sicherung herunterladen. Sie werden nur dann erneut benachrichtigt, wenn eine Sicherung fehlschlägt, nachdem eine gelungen ist.
