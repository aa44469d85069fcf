"""Kind `ceilings`: the rates that the stores' own tools reach on this host."""
