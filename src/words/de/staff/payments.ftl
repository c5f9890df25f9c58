### Namen von Zahlungsarten.

# $method ist der Name der Zahlungsart in der API, $name steht für eine Zahlungsart, die hier keinen Text hat.
payment_method =
    { $method ->
        [bank_transfer] Überweisung
        [card] Kartenzahlung
        [cash] Barzahlung
        [channel] Vertriebskanal
        [dispute] Rückbuchung
        [processor] Online-Zahlung
       *[other] { $name }
    }
