### Suche im gesamten Betrieb.

title = Suche
field = Nummer, Name oder E-Mail-Adresse
search = Suchen

## Treffer

printers = Drucker
spools = Spulen
materials = Materialien
of_order = für { $number }
all_orders = Alle passenden Bestellungen
all_jobs = Alle passenden Druckaufträge
all_printers = Alle passenden Drucker
all_slots = Alle Fächer
all_materials = Alle passenden Materialien
all_products = Alle passenden Produkte
all_customers = Alle passenden Kunden
search_jobs = Druckaufträge nach Produkt oder Datei durchsuchen

## Keine Treffer

none_match = Keine Treffer für „{ $text }“.
hint = Bestellungen, Druckaufträge und Spulen finden Sie über die Nummer, Drucker und Materialien über den Namen, Produkte über Namen oder Artikelnummer, Kunden über Namen oder E-Mail-Adresse, Bestellungen auch über die E-Mail-Adresse des Kunden.
