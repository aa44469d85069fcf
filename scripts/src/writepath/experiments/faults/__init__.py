"""Kind `faults`: what each write path loses, and how fast it recovers, when something breaks under load."""
