"""Many runs: blocks in random order, an index, and going on after an abort."""
