### Termin einer Bestellung: sein Status, und wann sie fertig sein muss und voraussichtlich fertig ist.

on_time = Pünktlich
at_risk = Gefährdet
late = Verspätet
due_expected = fällig { $deadline }, nun voraussichtlich { $expected }
due_unknown = fällig { $deadline }, keine Prognose verfügbar
promised_expected = zugesagt für { $deadline }, nun voraussichtlich { $expected }
promised_unknown = zugesagt für { $deadline }, keine Prognose verfügbar
