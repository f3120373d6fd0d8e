"""The demo: photos that are free to use, drawings to try, and a check that searching works.

    your own folder ─────────┐
    stamps ──► pages ────────┼──► photos ──► gallery ──► service ◄── check ◄── drawings
    the synthetic world ─────┘

`choose_photos` and `own_photos` choose the photos, `choose_icons` an open set of icons in their place, and `check`
searches with the drawings of `sketchhash.datasets`.
"""

from sketchhash.demo.checking import Finding, check
from sketchhash.demo.icons import choose_icons
from sketchhash.demo.photos import DemoPhotos, Listener, choose_photos, own_photos

__all__ = ["DemoPhotos", "Finding", "Listener", "check", "choose_icons", "choose_photos", "own_photos"]
