"""Kind `search`: posts are bulk loaded, then one client searches for keywords in rounds."""
