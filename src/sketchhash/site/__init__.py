"""A gallery as a static site: a folder that any host serves, in which the browser itself searches.

    gallery ──► packs (codes, shapes, details, thumbnails) ─┐
    page, model, onnxruntime-web ───────────────────────────┴─► folder ──► index.html with `static/engine`

`write_site` writes the folder, whole or not at all. The page is that of the service; `static/engine` is its other back
end, which gives the same hits in the same order.
"""

from sketchhash.site.runtime import RuntimeUnavailable, find_runtime
from sketchhash.site.writing import Written, write_site

__all__ = ["RuntimeUnavailable", "Written", "find_runtime", "write_site"]
