"""Kind `load`: one load of each variant, with an audit of everything that was acknowledged."""
