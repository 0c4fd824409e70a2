"""Errors that end a command with one clear line and a known exit status."""

from __future__ import annotations


class TraderBenchError(Exception):
    """Something the user can act on. ``exit_status`` follows sysexits.h where a code fits."""

    exit_status = 1


class ConfigError(TraderBenchError):
    """A config, an option or an argument is wrong."""

    exit_status = 2


class StoreCorrupt(TraderBenchError):
    """The ledger or a transcript does not hold what was acknowledged."""

    exit_status = 65


class NotAllServed(TraderBenchError):
    """A source of data served less than it was asked for; what it served is kept."""

    exit_status = 66


class AgentUnreachable(TraderBenchError):
    """No agent answers at the address given."""

    exit_status = 69


class RunIncomplete(TraderBenchError):
    """A run ended with tasks that have no result, or with more errors than its limit allows."""

    exit_status = 76


class ServiceUnavailable(TraderBenchError):
    """A part of the harness (a port, Ray, a tool server) cannot be had."""

    exit_status = 71


class WriteFailed(TraderBenchError):
    """Results cannot be written: the disk is full, read-only or out of order, or too many files are open."""

    exit_status = 74


class RunFolderBusy(TraderBenchError):
    """Another process works in the run folder."""

    exit_status = 75
