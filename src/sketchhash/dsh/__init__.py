"""Deep Sketch Hashing: from a dataset of sketches and photos to a model folder that can search.

    dataset ─► inputs ─► pretraining ─► training (Algorithm 1) ─► export ─► model folder

`networks` has the paper's nets, `objective` and `discrete` its equations, `recipe` every number of a run, `runs` the
folder that a run lives in. This is the room that imports torch; searching needs nothing of it.

References:
    Liu, Shen, Shen, Liu, Shao. Deep Sketch Hashing: Fast Free-hand Sketch-Based Image Retrieval. CVPR 2017.
"""

from sketchhash.dsh.export import export_model
from sketchhash.dsh.networks import HashNetwork
from sketchhash.dsh.recipe import Recipe, load_recipe
from sketchhash.dsh.runs import Job, Run
from sketchhash.dsh.training import Trainer, train

__all__ = ["HashNetwork", "Job", "Recipe", "Run", "Trainer", "export_model", "load_recipe", "train"]
