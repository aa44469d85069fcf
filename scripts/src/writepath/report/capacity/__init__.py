"""Figures of capacity runs over blocks, for their pages and for what README and guide quote."""
