"""Pure pricing and risk kernels: arrays in, arrays out. Imports nothing of ours.

Importing this package switches jax to 64-bit floats: the truth of a benchmark is not computed in single precision.
Arrays that are passed as float32 stay float32.
"""

import jax

jax.config.update("jax_enable_x64", True)
