"""The gallery: a collection of photos that can be searched by drawing, kept in one SQLite file.

    folders ──► photos (walk, read) ──► indexing (workers encode) ──► database ──► memory_index ──► search ──► hits

`GalleryFile` opens or makes the file, `index` and `watch_folders` bring it up to date with folders, and a `Searcher`
answers drawings while they do. `verify`, `find_copies`, `fill_shapes` and `fill_hashes` look after it. An
`OpenGallery` may as well be kept on an engine: see `sketchhash.engines`.
"""

from sketchhash.gallery.copies import COPY_RADIUS, Copy, CopyGroup, find_copies
from sketchhash.gallery.database import GalleryFile
from sketchhash.gallery.filters import EVERYTHING, Filter, LeftOut, Near, Period
from sketchhash.gallery.indexing import (
    Completing,
    Event,
    Labels,
    Progress,
    Summary,
    Waiting,
    Watching,
    index,
    index_events,
    require_places,
)
from sketchhash.gallery.photos import Failure, PhotoFile, PhotoKind, PhotoRecord, TakenAs
from sketchhash.gallery.protocol import GalleryInfo, GalleryModel, Hit, OpenGallery, PhotoRow, Sample
from sketchhash.gallery.search import Answer, Picture, Prepared, Query, Searcher
from sketchhash.gallery.upkeep import Checked, PhotoProblem, fill_hashes, fill_shapes, verify
from sketchhash.gallery.watch import watch_folders
from sketchhash.gallery.workers import WorkerProcesses, Workers, WorkerThreads

__all__ = [
    "COPY_RADIUS",
    "EVERYTHING",
    "Answer",
    "Checked",
    "Completing",
    "Copy",
    "CopyGroup",
    "Event",
    "Failure",
    "Filter",
    "GalleryFile",
    "GalleryInfo",
    "GalleryModel",
    "Hit",
    "Labels",
    "LeftOut",
    "Near",
    "OpenGallery",
    "Period",
    "PhotoFile",
    "PhotoKind",
    "PhotoProblem",
    "PhotoRecord",
    "PhotoRow",
    "Picture",
    "Prepared",
    "Progress",
    "Query",
    "Sample",
    "Searcher",
    "Summary",
    "TakenAs",
    "Waiting",
    "Watching",
    "WorkerProcesses",
    "WorkerThreads",
    "Workers",
    "fill_hashes",
    "fill_shapes",
    "find_copies",
    "index",
    "index_events",
    "require_places",
    "verify",
    "watch_folders",
]
