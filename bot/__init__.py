"""The front doors: command line, GitHub Action and webhook app."""
