"""Take a picture of a static site on a phone: one of the built-in drawings, and what it finds in the browser.

python tests/browser/photograph_site.py --gallery mine.gallery --drawing apple --out artefacts/site.png
"""

import argparse
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

from photograph_demo import photograph

from sketchhash.datasets import example_drawings
from sketchhash.engines import open_gallery
from sketchhash.model import Model
from sketchhash.model.folder import default_model_folder
from sketchhash.site import find_runtime, write_site


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gallery", required=True)
    parser.add_argument("--drawing", default="apple", choices=list(example_drawings()))
    parser.add_argument("--out", type=Path, default=Path("artefacts/site.png"))
    parser.add_argument("--scheme", default="light", choices=["light", "dark"])
    parser.add_argument("--width", type=int, default=360)
    parser.add_argument("--height", type=int, default=740)
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    model = Model.load(default_model_folder())
    with TemporaryDirectory() as folder, open_gallery(options.gallery, model) as gallery:
        site = write_site(gallery, model, Path(folder) / "site", find_runtime()).folder
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=site))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        photograph(f"http://127.0.0.1:{server.server_port}/", options, rehearsals=12)
        server.shutdown()
    sys.stdout.write(f"{options.out}\n")


if __name__ == "__main__":
    main()
