"""The subcommands of ``videodecode``, one module each."""
