"""What is saved: one index and one cell record, and the parts of which all records are made."""
