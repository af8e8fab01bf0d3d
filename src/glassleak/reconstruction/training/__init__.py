"""What the seeds tell about the columns every split looked at, and the cells that settles."""
