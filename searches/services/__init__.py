"""What the pages, tasks and commands do; the rules live here."""
