### Timing of an order: its label, and when it has to be ready and is expected to be.

on_time = On time
at_risk = At risk
late = Late
due_expected = due { $deadline }, now expected { $expected }
due_unknown = due { $deadline }, no forecast available
promised_expected = promised for { $deadline }, now expected { $expected }
promised_unknown = promised for { $deadline }, no forecast available
