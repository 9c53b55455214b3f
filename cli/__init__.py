"""The command line: click commands, one module for each noun."""
