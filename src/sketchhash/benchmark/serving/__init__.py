"""How the service holds up while several people draw at once, on this machine alone.

gallery of random codes ──► a server in a process of its own ◄── drawers (threads) ──► replies ──► figures
"""

from sketchhash.benchmark.serving.drawers import Pace
from sketchhash.benchmark.serving.figures import Figures, figures_table
from sketchhash.benchmark.serving.galleries import fill_with_random_codes
from sketchhash.benchmark.serving.measuring import measure

__all__ = ["Figures", "Pace", "figures_table", "fill_with_random_codes", "measure"]
