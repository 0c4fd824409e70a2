"""Synthetic questions: analytical reasoning with truth computed from drawn inputs."""
