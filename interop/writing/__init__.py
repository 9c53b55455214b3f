"""Sessions written as files of other tools, with a report of what such a file cannot hold."""
