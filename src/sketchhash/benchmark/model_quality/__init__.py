"""How well a model folder finds photos, judged on the road that users take: files, ONNX, codes.

datasets, split ──► Material ──► settings ──┐
model folder ──► Encodings (kept on disk) ──┴──► judge ──► verdicts ──► Judgement ──► scores.json, scores.md
"""

from sketchhash.benchmark.model_quality.encodings import Encodings, Medium
from sketchhash.benchmark.model_quality.judging import Verdict, judge
from sketchhash.benchmark.model_quality.report import Judgement, settings_table, write
from sketchhash.benchmark.model_quality.settings import Kind, Material, Most, Setting

__all__ = [
    "Encodings",
    "Judgement",
    "Kind",
    "Material",
    "Medium",
    "Most",
    "Setting",
    "Verdict",
    "judge",
    "settings_table",
    "write",
]
