### Teile, die in allen Bereichen vorkommen.

total = Insgesamt { $count }
newer = Neuere
older = Ältere
