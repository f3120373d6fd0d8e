"""The gallery: a collection of photos that can be searched by drawing, kept in one SQLite file.

    folders ──► scanning ──► indexing (reading, encoding) ──► store (schema, writing) ──► searching ──► hits

`Gallery` opens or makes the file, `index_photos` and `watch_folders` bring it up to date with folders, and a
`Searcher` answers drawings while they do. `verify`, `exact_duplicates` and `near_duplicates` look after it.
"""

from sketchhash.gallery.duplicates import exact_duplicates, near_duplicates
from sketchhash.gallery.indexing import Labels, index_photos
from sketchhash.gallery.photos import Failure, PhotoFile, PhotoRecord
from sketchhash.gallery.progress import Event, Progress, Summary, Waiting, Watching
from sketchhash.gallery.schema import CodeMaker
from sketchhash.gallery.searching import Hit, Searcher
from sketchhash.gallery.served import PhotoFinder, Served, ServedGallery, open_served
from sketchhash.gallery.store import Gallery, GalleryInfo
from sketchhash.gallery.surveying import Sample
from sketchhash.gallery.verifying import Problem, Verdict, verify
from sketchhash.gallery.watching import watch_folders

__all__ = [
    "CodeMaker",
    "Event",
    "Failure",
    "Gallery",
    "GalleryInfo",
    "Hit",
    "Labels",
    "PhotoFile",
    "PhotoFinder",
    "PhotoRecord",
    "Problem",
    "Progress",
    "Sample",
    "Searcher",
    "Served",
    "ServedGallery",
    "Summary",
    "Verdict",
    "Waiting",
    "Watching",
    "exact_duplicates",
    "index_photos",
    "near_duplicates",
    "open_served",
    "verify",
    "watch_folders",
]
