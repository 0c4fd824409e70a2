"""Stored runs beside each other: who is better, by how much, and what the data cannot tell.

``played`` reads runs, ``pair`` compares two of them task by task, ``board`` ranks agents, ``words`` and ``document``
say it to people.
"""
