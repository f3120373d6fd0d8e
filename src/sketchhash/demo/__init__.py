"""The demo: photos that are free to use, drawings to try, and a check that searching works.

    your own folder ─────────┐
    stamps ──► pages ────────┼──► photos ──► gallery ──► service ◄── check ◄── drawings
    the synthetic world ─────┘

`choose_photos` and `own_photos` choose the photos, and `check` searches with the drawings of `sketchhash.datasets`.
"""

from sketchhash.demo.checking import Finding, check
from sketchhash.demo.photos import DemoPhotos, Listener, choose_photos, own_photos

__all__ = ["DemoPhotos", "Finding", "Listener", "check", "choose_photos", "own_photos"]
