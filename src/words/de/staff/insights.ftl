### Auswertung: Kennzahlen, Auffälligkeiten, Diagramme und ihre Tabellen.

period = Zeitraum
period_days =
    { $days ->
        [365] 1 Jahr
       *[other] { $days } Tage
    }

## Kennzahlen und ihr Vergleich mit dem Zeitraum davor

key_figures = Kennzahlen
better =
    { $days ->
        [365] Besser: { $change } gegenüber dem Jahr davor
       *[other] Besser: { $change } gegenüber den { $days } Tagen davor
    }
worse =
    { $days ->
        [365] Schlechter: { $change } gegenüber dem Jahr davor
       *[other] Schlechter: { $change } gegenüber den { $days } Tagen davor
    }
changed =
    { $days ->
        [365] { $change } gegenüber dem Jahr davor
       *[other] { $change } gegenüber den { $days } Tagen davor
    }
same_as =
    { $days ->
        [365] Wie im Jahr davor
       *[other] Wie in den { $days } Tagen davor
    }
no_data_for =
    { $days ->
        [365] Keine Daten aus dem Jahr davor
       *[other] Keine Daten aus den { $days } Tagen davor
    }
no_data_among =
    { $days ->
        [365] Keine Daten aus dem Jahr davor: { $names }
       *[other] Keine Daten aus den { $days } Tagen davor: { $names }
    }
points = { $change } Prozentpunkte
print_time = Druckzeit
first_pass_yield = Gut im ersten Druck
failure_rate = Fehlerquote
scrap_cost = Ausschusskosten
lead_time_median = Durchlaufzeit (Median)
lead_time_most = Durchlaufzeit (80. Perzentil)

## Zeiträume ohne Drucke

empty_title = Keine Drucke in diesem Zeitraum
empty_choose = Wählen Sie oben einen längeren Zeitraum. Drucke werden gezählt, sobald sie beendet sind.
view_orders = Bestellungen ansehen
open_floor = Zur Werkstatt
no_printers = Noch keine Drucker. Zahlen erscheinen, sobald Sie einen Drucker, ein Material, ein Produkt daraus und eine bezahlte Bestellung haben.
sample_data = Um diese Seite mit Beispieldaten zu sehen, führen Sie { $command } aus.
add_printer = Drucker hinzufügen
add_material = Material anlegen
add_sku = Produkt anlegen

## Auffälligkeiten

findings_title = Einen Blick wert
lowest_yield =
    { $prints ->
        [one] { $printer } hat im ersten Druck den niedrigsten Anteil guter Teile: { $share } waren auf Anhieb gut, bei { $prints } Druck.
       *[other] { $printer } hat im ersten Druck den niedrigsten Anteil guter Teile: { $share } waren auf Anhieb gut, bei { $prints } Drucken.
    }
costliest_scrap =
    { $parts ->
        [one] { $sku } hat die höchsten Ausschusskosten: Material für { $cost } in { $parts } Ausschussteil.
       *[other] { $sku } hat die höchsten Ausschusskosten: Material für { $cost } in { $parts } Ausschussteilen.
    }
growing_reason =
    { $days ->
        [365] { $earlier ->
            [0] Mehr Ausschuss ({ $reason }): { $now }, im Jahr davor keiner.
           *[other] Mehr Ausschuss ({ $reason }): { $now }, im Jahr davor { $earlier }.
        }
       *[other] { $earlier ->
            [0] Mehr Ausschuss ({ $reason }): { $now }, in den { $days } Tagen davor keiner.
           *[other] Mehr Ausschuss ({ $reason }): { $now }, in den { $days } Tagen davor { $earlier }.
        }
    }
quoted = „{ $text }“

## Diagramme und Tabellen

as_csv = { $title } als CSV
nothing_yet = Noch keine Daten zu: { $names }
table_of = { $title }: Zahlen
empty_days =
    { $count ->
        [one] { $count } weiterer Tag ohne Drucke
       *[other] { $count } weitere Tage ohne Drucke
    }
number = { $count }
parts =
    { $count ->
        [one] { $count } Teil
       *[other] { $count } Teile
    }
orders =
    { $count ->
        [one] { $count } Bestellung
       *[other] { $count } Bestellungen
    }
unknown = unbekannt
deleted = gelöscht
no_reason = anderer oder kein Grund
up_to = bis { $span }
longer = länger
seconds = { $seconds }{ "\u00A0" }Sek.
minutes = { $minutes }{ "\u00A0" }Min. { $seconds }{ "\u00A0" }Sek.
whole_hours = { $hours }{ "\u00A0" }Std.
hours = { $hours }{ "\u00A0" }Std. { $minutes }{ "\u00A0" }Min.
whole_days =
    { $days ->
        [one] { $days } Tag
       *[other] { $days } Tage
    }
days =
    { $days ->
        [one] { $days } Tag { $hours }{ "\u00A0" }Std.
       *[other] { $days } Tage { $hours }{ "\u00A0" }Std.
    }

## Spalten

day_column = Tag
finished_column = Fertig
failed_column = Fehlgeschlagen
cancelled_column = Abgebrochen
printer_column = Drucker
utilisation_column = Auslastung
prints_column = Drucke
reason_column = Grund
product_column = Produkt
parts_column = Teile
good_column = Gut
bad_parts_column = Ausschuss
time_column = Zeit
material_column = Material
cost_column = Kosten
used_column = Verbrauch
unit_column = Einheit
orders_column = Bestellungen
outcome_column = Ergebnis

## Überschriften der Diagramme, mit einer Erklärung der Zahlen

prints_title = Drucke pro Tag
prints_about = Wie viele Drucke an jedem Tag fertig wurden, fehlschlugen oder abgebrochen wurden.
prints_scale =
    { $most ->
        [one] { $most } Druck am stärksten Tag; rot: fehlgeschlagen oder abgebrochen
       *[other] { $most } Drucke am stärksten Tag; rot: fehlgeschlagen oder abgebrochen
    }
utilisation_title = Auslastung der Drucker
utilisation_about = Anteil des Zeitraums, in dem der Drucker gedruckt hat, ab dem Tag, an dem er hinzukam.
failures_title = Fehlgeschlagene Drucke nach Grund
failures_about = Wie von Druckern oder vom Team gemeldet, für die letzten 1.000 fehlgeschlagenen Drucke.
first_pass_title = Gut im ersten Druck nach Produkt
first_pass_about = Anteil der guten Teile in ersten Drucken, ohne Nachdrucke.
scrap_title = Ausschuss und Kosten nach Produkt
scrap_about = Ausschuss mit Druckzeit, Material und dessen Kosten zu heutigen Preisen.
scrap_reasons_title = Ausschuss nach Grund
scrap_reasons_about = Gründe, die bei der Abnahme angegeben wurden.
material_title = Materialverbrauch
material_about = Material aller Drucke, ob gut oder nicht. Die Balken vergleichen Materialien mit derselben Einheit.
lead_time_title = Durchlaufzeit der Bestellungen
lead_time_about = Zeit von der Zahlung bis zum Status „Versandbereit“, für die neuesten 2.000 Bestellungen aus diesem Zeitraum.
promises_title = Eingehaltene Zusagen
promises_about = Bestellungen aus diesem Zeitraum: zur zugesagten Zeit versandbereit oder verspätet.
promise_kept = eingehalten
promise_late = verspätet
