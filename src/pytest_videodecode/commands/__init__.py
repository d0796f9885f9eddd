"""The subcommands of ``videodecode`` that are more than a few lines."""
