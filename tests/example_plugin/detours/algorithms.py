"""An algorithm: paths whose largest weight is as small as possible."""

import jax.numpy as jnp
import numpy as np

from algotransfer.algorithms import PARALLEL, Algorithm

costliest_edge = Algorithm(
    name="costliest_edge",
    title="Least costliest edge",
    framework=PARALLEL,
    relax=jnp.maximum,
    source_key=lambda num_nodes: 0.0,
    unreached_key=np.inf,
    smaller_is_better=True,
    scaling="linear",
)
