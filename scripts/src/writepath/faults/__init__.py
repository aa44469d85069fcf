"""What is done to a stack on purpose, and how is it undone whatever happens?"""
