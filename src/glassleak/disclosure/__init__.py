"""What a published tree says about people one already knows (the maximum-entropy paper)."""
