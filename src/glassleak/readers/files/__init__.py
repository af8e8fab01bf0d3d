"""Recognise files and decode those that are plain data."""
