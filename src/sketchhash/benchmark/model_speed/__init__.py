"""How fast and how large a model folder is: stage by stage, as a whole, in memory, and beside other number formats.

`measure` times a folder, and `model_bytes` and its siblings look at processes that have loaded one. `run_peers`, which
needs PyTorch, sets the networks of a training run side by side in several forms.
"""

from sketchhash.benchmark.model_speed.measuring import Speed, measure
from sketchhash.benchmark.model_speed.memory import bare_bytes, model_bytes, serve_random_codes, torch_bytes
from sketchhash.benchmark.model_speed.peers import Peer, PeerFigures
from sketchhash.benchmark.model_speed.report import Memory, Report
from sketchhash.benchmark.model_speed.samples import Samples, take_samples

__all__ = [
    "Memory",
    "Peer",
    "PeerFigures",
    "Report",
    "Samples",
    "Speed",
    "bare_bytes",
    "measure",
    "model_bytes",
    "serve_random_codes",
    "take_samples",
    "torch_bytes",
]
