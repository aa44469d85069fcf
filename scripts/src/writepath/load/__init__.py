"""What is sent: the plan of each request, its content, the generator, and what became of it."""
