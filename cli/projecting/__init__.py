"""The subcommands of `tapefold projections`, one module each."""
