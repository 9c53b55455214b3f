"""Readers and writers of other tools' session files, one module for each tool."""
