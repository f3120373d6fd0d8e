"""The demo: photos that are to be had without asking anyone, drawings to try, and a check that they find something.

    your own folder ─────────┐
    stamps ──► pages ────────┼──► photos ──► gallery ──► service ◄── checking ◄── drawings
    the synthetic world ─────┘

`choose_photos` and `own_photos` say which photos, `drawings` gives the drawings, and `check` puts them to a service.
"""

from sketchhash.demo.drawings import Finding, check, drawings
from sketchhash.demo.photos import DemoPhotos, Listener, choose_photos, own_photos

__all__ = ["DemoPhotos", "Finding", "Listener", "check", "choose_photos", "drawings", "own_photos"]
