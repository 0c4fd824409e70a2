"""The list of faults."""

from __future__ import annotations

from tests.faults import agent_faults, harness_faults, judge_faults, machine_faults, server_faults, store_faults
from tests.faults.agent_faults import AgentFault
from tests.faults.row import Fault

FAULTS: tuple[Fault | AgentFault, ...] = (
    *agent_faults.FAULTS,
    *agent_faults.OWN_RUNS,
    *server_faults.FAULTS,
    *judge_faults.FAULTS,
    *harness_faults.FAULTS,
    *store_faults.FAULTS,
    *machine_faults.FAULTS,
)
