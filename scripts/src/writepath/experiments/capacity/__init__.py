"""Kind `capacity`: the maximum sustainable rate of each variant, found in load steps."""
