"""The same formulas as C loops, for large batches on a CPU where a C compiler exists.

XLA on a CPU makes no use of fused loops over several outputs and has slow transcendental functions; these loops are two
to three times faster. Nothing depends on them: without a compiler, on a GPU, for small batches, in float32 and inside
traced functions the jitted kernels serve, and the tests hold both to the same limits.

Set ``TRADERBENCH_NATIVE=0`` to switch them off.
"""
