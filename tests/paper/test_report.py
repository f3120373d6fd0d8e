import csv
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from sketchhash.errors import BadArgument
from sketchhash.paper import Records, write_report
from sketchhash.paper.records import FILE


@pytest.fixture(scope="module")
def report(finished, world, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "deep" / "down"
    return out, write_report(finished, out, world)


class References(HTMLParser):
    """Collects everything that a page would load or lead to."""

    def __init__(self, text):
        super().__init__()
        self.found, self.tags = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.found += [value for name, value in attrs if name in ("src", "href", "srcset", "action", "data", "poster")]


def test_everything_is_written_and_nothing_else(report):
    out, files = report
    assert sorted(files) == sorted(path for path in out.rglob("*") if path.is_file())
    names = {str(path.relative_to(out)) for path in files}
    assert names == {
        "report.md",
        "report.html",
        *("table-2.csv", "table-3.csv", "table-4.csv", "differences.csv", "runs.csv"),
        *("figure-5.png", "figure-7.png"),
        *("photos-not-to-publish/figure-6.png", "photos-not-to-publish/report.html"),
    }
    assert all(path.stat().st_size > 100 for path in files)


def test_a_page_needs_no_other_file_and_no_network(report):
    out, _ = report
    for page, pictures in ((out / "report.html", 2), (out / "photos-not-to-publish" / "report.html", 3)):
        text = page.read_text()
        references = References(text)
        assert len(references.found) == pictures
        assert all(value.startswith("data:image/png;base64,") for value in references.found)
        assert not {"script", "link", "iframe", "object"} & set(references.tags)
        assert not re.search(r"https?:|url\(|@import", re.sub(r"base64,[^\"]*", "", text))
        assert references.tags.count("table") == 5


def test_it_says_why_ours_are_not_the_papers_numbers(report):
    out, _ = report
    text = (out / "report.md").read_text()
    assert re.search(r"^\| CCA \| 8 \| 0\.\d+ \| – \| – \| Other features: .* A ridge is added", text, re.M)
    assert re.search(r"^\| DSH \| 16 \| .* \| Recipe quick: a few steps \|$", text, re.M)


def test_methods_that_changed_since_they_ran_are_told_apart(finished, tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    text = (finished / FILE).read_text().replace('"ridge":0.1,', "")
    (results / FILE).write_text(text)
    write_report(results, tmp_path / "out")
    report = (tmp_path / "out" / "report.md").read_text()
    assert re.search(r"^\| CCA \| 8 \| .* \| An earlier version ran \(now ridge 0\.1\)\. \|$", report, re.M)
    assert "- CCA: now ridge 0.1" in report and "CCA (Thompson" not in report


def test_it_says_how_many_queries_the_sketch_network_knows(report):
    out, _ = report
    assert "tells the category of 33.3% of the queries" in (out / "report.md").read_text()


def test_what_shows_photos_lies_apart(report):
    out, _ = report
    assert "Figure 6" not in (out / "report.html").read_text()
    assert "Figure 6" not in (out / "report.md").read_text()
    assert "Figure 6" in (out / "photos-not-to-publish" / "report.html").read_text()


def test_the_markdown_shows_the_pictures_beside_it_and_says_on_what_it_was_made(report, finished):
    out, _ = report
    text, experiment = (out / "report.md").read_text(), Records(finished).experiment()
    assert all((out / name).exists() for name in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text))
    assert experiment.split_hash[:12] in text
    assert "9 sketches are queries; 30 photos are searched" in text
    assert "Chance is about 0.333, and no P@200 can be above 0.050" in text
    assert "| Sketch-a-Net (SaN) | 512 | –" in text  # the quick eyes have another size
    assert "CCA (Thompson" in text


def test_the_numbers_are_those_of_the_runs(report, finished):
    out, _ = report
    with (out / "runs.csv").open(newline="") as file:
        rows = {(row["method"], row["size"]): row for row in csv.DictReader(file)}
    run = next(run for run in Records(finished).runs() if run.entry.slug == "dsh-16")
    row = rows["dsh", "16"]
    assert float(row["mAP"]) == run.scores.mean_average_precision
    assert float(row["query, s"]) == run.query_seconds
    assert len(rows) == 7


def test_the_record_alone_is_enough(report, finished, tmp_path):
    """Nothing but the one file of records is needed to write every table and figure again."""
    out, _ = report
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / FILE).write_bytes((finished / FILE).read_bytes())
    write_report(tmp_path / "results", tmp_path / "again")
    for name in ("report.md", "report.html", "table-2.csv", "table-3.csv", "table-4.csv", "runs.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes()
    assert (tmp_path / "again" / "figure-7.png").read_bytes() == (out / "figure-7.png").read_bytes()


def test_without_a_dataset_no_photo_is_shown(finished, tmp_path):
    write_report(finished, tmp_path)
    assert not (tmp_path / "photos-not-to-publish").exists()


def test_failed_runs_are_named(finished, tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    lines = (finished / FILE).read_text().splitlines(keepends=True)
    (results / FILE).write_text("".join(line for line in lines if '"run"' not in line[:6] or '"cca"' in line))
    (results / "hog-1296.failed.txt").write_text("Traceback")
    write_report(results, tmp_path / "out")
    assert "- hog-1296: see hog-1296.failed.txt" in (tmp_path / "out" / "report.md").read_text()
    assert not (tmp_path / "out" / "figure-5.png").exists()


def test_a_report_is_imported_without_pytorch():
    script = "import sys, sketchhash.paper; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_an_empty_comparison_has_no_report(finished, tmp_path):
    (tmp_path / FILE).write_text((finished / FILE).read_text().splitlines()[0] + "\n")
    with pytest.raises(BadArgument, match="no finished run"):
        write_report(tmp_path, tmp_path / "out")
