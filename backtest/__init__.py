"""Markets, the account step, strategies and metrics. Imports only pricing. README.md of this folder has the tour.

Importing this package switches jax to 64-bit floats; the float32 account of screening sweeps is asked for by dtype.
"""

import jax

jax.config.update("jax_enable_x64", True)
