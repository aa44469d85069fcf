"""What does each write path lose, and how fast does it come back, when something breaks under load?"""
