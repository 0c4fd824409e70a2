"""The adversarial debate (FAB++ Algorithm 2): an objection, a rebuttal, a verdict, a multiplier from 0.8 to 1.2."""
