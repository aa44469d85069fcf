"""Kind `pair`: two paths next to each other on one host, in short steps that take turns."""
