### Meldungen der API zu Rechnungen, Angeboten und Zahlungen.

## Felder

fault_discount = darf die Summe der Positionen nicht übersteigen
fault_total = der Gesamtbetrag ist zu hoch; teilen Sie die Rechnung auf
fault_not_future = muss in der Zukunft liegen
fault_past = darf nicht in der Vergangenheit liegen
fault_method = ist für Meldungen des Zahlungsdienstes reserviert; verwenden Sie einen anderen Namen
fault_above_due = darf den offenen Betrag nicht übersteigen
fault_above_refundable = darf den noch nicht erstatteten Betrag nicht übersteigen
fault_payment = ist bei Zahlungen außerhalb des Zahlungsdienstes erforderlich
fault_price_of_sku = ist erforderlich, weil der Preis des Produkts in einer anderen Währung ist
fault_inactive_sku = dieses Produkt ist nicht aktiv
fault_unpriced = ist zu groß, um einen Preis zu berechnen; verringern Sie die Menge oder legen Sie einen Preis fest

## Formulare

changed_since = Inzwischen hat sich etwas geändert. Laden Sie die Seite neu.
not_in_status = Im aktuellen Status ist das nicht möglich. Laden Sie die Seite neu, um ihn zu sehen.
nothing_to_refund = Es ist nichts mehr zu erstatten. Lassen Sie die Art der Erstattung leer, um über den Zahlungsdienst zu erstatten.
refunds_under_way = Warten Sie, bis die laufenden Erstattungen abgeschlossen sind.
refund_at_processor = Die Zahlung ging über den Zahlungsdienst ein. Erstatten Sie sie dort; die Erstattung erscheint dann von selbst hier.
payment_unnamed = Der Zahlungsdienst hat die Kennung dieser Zahlung noch nicht gemeldet. Versuchen Sie es in einer Minute noch einmal.
has_payments = Zu der Rechnung gibt es Zahlungen. Erstatten Sie sie zuerst.
already_paid = Die Rechnung ist bereits bezahlt.
belongs_to_order = Die Zahlungen dieser Rechnung werden bei ihrer Bestellung erfasst.
too_many_payments = Die Höchstzahl an Zahlungen und Erstattungen ist erreicht.
not_issued = Die Rechnung ist noch ein Entwurf. Stellen Sie sie zuerst aus.
