### Seite „Aufgaben“.

title = Aufgaben
tasks =
    { $count ->
        [one] { $count } Aufgabe
       *[other] { $count } Aufgaben
    }
heading = { $title } ({ $count })
caught_up = Alles erledigt
caught_up_text = Druckbetten zum Abräumen, Spulen zum Einlegen, Teile zur Abnahme und Bestellungen zum Packen erscheinen hier von selbst; was am längsten wartet, zuerst.
open_floor = Zur Werkstatt

## Arten von Aufgaben

kind_restored = Wiederherstellungen prüfen
kind_seller = Zurückgehaltene Rechnungen
kind_beds = Druckbetten abräumen
kind_parts = Abnahme der Teile
kind_unverified = Drucke prüfen
kind_paused = Pausierte Drucke
kind_troubles = Drucker prüfen
more_out_of_service =
    { $count ->
        [one] { $count } weiterer ist außer Betrieb
       *[other] { $count } weitere sind außer Betrieb
    }
kind_late = Verspätete Bestellungen
kind_emails = Nicht zugestellte E-Mails
kind_failed = Fehlgeschlagene Druckaufträge
kind_review = Druckaufträge prüfen
kind_spools = Spulen einlegen
kind_waiting = Druckaufträge ohne passenden Drucker
kind_counts = Unterschiede im Bestand klären
kind_stock = Knapper Bestand
kind_pack = Bestellungen packen
kind_flagged = Bestellungen prüfen
kind_due = Offene Zahlungen
kind_unpaid = Fehlgeschlagene Zahlungen

## Aufgaben

restored = Der Betrieb wurde aus einer Sicherung wiederhergestellt
restored_text = Es beginnt kein Druckauftrag, bis ein Admin die Wiederherstellung geprüft hat. Änderungen nach der Sicherung fehlen.
review_restore = Wiederherstellung prüfen
no_invoices = Es können keine Rechnungen ausgestellt werden
open_setup = Zur Einrichtung
seller_gaps = für Rechnungen fehlen noch Angaben zum Betrieb: { $gaps }; ergänzen Sie sie in der Einrichtung unter „Verkauf“ und starten Sie den Server neu
gap_name = Name
gap_street = Straße und Hausnummer
gap_city = Ort
gap_country = Land
gap_vat_id = USt-IdNr. mit Länderkennzeichen
gap_tax_number = USt-IdNr. oder Steuernummer
did_it_print = Wurde { $job } auf { $printer } gedruckt?
paused_by_person = Manuell pausiert
paused_by_detection = Von der Fehldruckerkennung pausiert
paused_at_printer = Am Drucker pausiert
paused_by_printer = Vom Drucker pausiert: { $message }
mark_checked = Als geprüft markieren
view_details = Details ansehen
view_job = Druckauftrag ansehen
open = Öffnen
open_order = { $order } öffnen
late_orders =
    { $count ->
        [one] { $count } verspätete Bestellung ansehen
       *[other] { $count } verspätete Bestellungen ansehen
    }

## Druckbetten und Teile

printers_freed = Macht { $count } Drucker frei
jobs_waiting =
    { $count ->
        [one] { $count } Druckauftrag wartet
       *[other] { $count } Druckaufträge warten
    }
freed_and_waiting = { $printers }; { $jobs }
jobs_waiting_for_bed =
    { $count ->
        [one] { $count } Druckauftrag wartet auf dieses Druckbett
       *[other] { $count } Druckaufträge warten auf dieses Druckbett
    }
select_all = Alle auswählen
beds_clear = Ausgewählte Druckbetten sind frei und alle Teile gut
select = { $printer } auswählen
print_failed = Druck fehlgeschlagen
bed_clear = Druckbett ist frei
promised_for = zugesagt für { $time }
parts_on_plate =
    { $count ->
        [one] { $count } Teil auf der Platte
       *[other] { $count } Teile auf der Platte
    }
all_good = Alle Teile sind gut

## Druckaufträge, Bestand und Spulen

retry = Erneut versuchen
cancel = Druckauftrag abbrechen{ "\u00A0" }…
release = Freigeben
stock_left = { $available } verfügbar, Meldebestand { $point }
stock_without_level = { $available } verfügbar, weniger als die wartenden Druckaufträge brauchen
to_order = { $amount } bestellen
load = { $material } in { $printer } einlegen
load_spool_into = Spule in { $printer } einlegen
into_printer = In { $printer }
more_printers = { $count } weitere
load_spool = Spule einlegen
jobs_can_start =
    { $count ->
        [one] { $count } Druckauftrag kann beginnen
       *[other] { $count } Druckaufträge können beginnen
    }
jobs_need_more =
    { $count ->
        [one] { $count } Druckauftrag braucht noch eine weitere Spule
       *[other] { $count } Druckaufträge brauchen noch weitere Spulen
    }
more_jobs =
    { $count ->
        [one] und ein weiterer
       *[other] und { $count } weitere
    }
confirm = { $material } bestätigen
unlinked_spool = { $slot } enthält { $spool }, noch ohne Zuordnung zu einem Material.
group =
    { $count ->
        [one] { $product }, { $count } Druckauftrag
       *[other] { $product }, { $count } Druckaufträge
    }
show_jobs =
    { $count ->
        [one] { $count } Druckauftrag anzeigen
       *[other] { $count } Druckaufträge anzeigen
    }

## Nächste Stunden

next_hours = Nächste Stunden
beds_until = Abzuräumende Druckbetten bis { $time }
beds_until_midnight = Abzuräumende Druckbetten bis Mitternacht
no_beds = Bis dahin ist kein Druckbett abzuräumen.
spools_to_change = Zu wechselnde Spulen
no_spools = Die eingelegten Spulen reichen bis dahin.
spool_by = { $material } in { $printer } bis { $time }
orders_today = Heute fällige Bestellungen
late_among = davon { $count } verspätet
no_orders = Heute ist keine Bestellung fällig.
further = und { $count } weitere
others = { $count } weitere

## In dieser Schicht erledigt

done_heading = In dieser Schicht erledigt
done_since = Seit { $time }
done_nothing = Noch nichts. Abgeräumte Druckbetten, abgenommene Teile, Lieferungen und Sendungen erscheinen hier.
done_by = { $person }: { $work }
done_parts =
    { $parts ->
        [one] { $good } von { $parts } Teil gut
       *[other] { $good } von { $parts } Teilen gut
    }
done_bad = { $bad } von { $parts } Ausschuss
done_bad_reason = { $bad } von { $parts } Ausschuss: { $reason }
done_beds =
    { $count ->
        [one] { $count } Druckbett abgeräumt
       *[other] { $count } Druckbetten abgeräumt
    }
done_deliveries =
    { $count ->
        [one] { $count } Material eingebucht
       *[other] { $count } Materialien eingebucht
    }
done_shipments =
    { $count ->
        [one] { $count } Sendung
       *[other] { $count } Sendungen
    }
activity_nothing = Noch keine Aktivität an Druckern und Druckaufträgen.
