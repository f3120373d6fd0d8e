"""What a model folder weighs and takes, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sketchhash.benchmark.model_speed.measuring import Speed
from sketchhash.benchmark.model_speed.peers import PeerFigures
from sketchhash.benchmark.model_speed.timing import Cost
from sketchhash.benchmark.search_speed.timing import Timing
from sketchhash.benchmark.serving import Figures


@dataclass(frozen=True)
class Memory:
    """Bytes that processes hold: nothing but Python, with the model in ONNX, and with it in PyTorch if measured."""

    bare: int
    onnx: int
    torch: int | None = None


@dataclass(frozen=True)
class Report:
    """Everything that was measured; ``service`` is a server with as many random codes as it says."""

    speed: Speed
    memory: Memory
    service: Figures
    peers: tuple[PeerFigures, ...] = ()

    def page(self) -> str:
        """Set everything as Markdown."""
        parts = [
            f"# {self.speed.model}: {self.speed.bits} bits, {sum(self.speed.files.values()):,} bytes",
            _table(("file", "bytes"), ((name, f"{size:,}") for name, size in self.speed.files.items())),
            _costs("sketch, one core", self.speed.sketches),
            _costs("photo, one core", self.speed.photos),
            _indexing(self.speed),
            f"Photos: {self.speed.photos_from}. Processor time hardly depends on what else the machine does.",
            _memory(self.memory, self.service),
            *([_peers(self.peers)] if self.peers else ()),
            _published(self.speed.bits),
        ]
        return "\n\n".join(parts) + "\n"


def _costs(title: str, costs: Mapping[str, Cost]) -> str:
    rows = ((stage, f"{each.milliseconds:.2f} ms", f"{each.cpu_milliseconds:.2f} ms") for stage, each in costs.items())
    return _table((title, "by the clock (median)", "processor time (mean)"), rows)


def _indexing(speed: Speed) -> str:
    rows = (
        (threads, f"{each.per_second:.1f}", f"{each.cpu_milliseconds:.1f} ms")
        for threads, each in speed.indexing.items()
    )
    return _table(("files to codes, threads", "photos/s", "processor time a photo"), rows)


def _memory(memory: Memory, service: Figures) -> str:
    rows = [
        ("Python alone", _megabytes(memory.bare)),
        ("with this model loaded, a sketch and a photo encoded", _megabytes(memory.onnx)),
        *([("the same networks in PyTorch", _megabytes(memory.torch))] if memory.torch is not None else ()),
        (f"service with {service.photos:,} codes, searched", _megabytes(service.memory.end)),
    ]
    answers = (
        f"Its answers to one drawer: p50 {1000 * service.p50_seconds:.1f} ms, p99 {1000 * service.p99_seconds:.1f} ms."
    )
    return f"{_table(('process', 'memory'), rows)}\n\n{answers}"


def _peers(peers: Sequence[PeerFigures]) -> str:
    settings = list(peers[0].scores)
    heading = ("networks", "bytes", "sketch", "photo", "photo, batched", *(f"mAP {setting}" for setting in settings))
    rows = (
        (
            peer.name,
            f"{peer.bytes:,}",
            _milliseconds(peer.times.sketch),
            _milliseconds(peer.times.photo),
            _milliseconds(peer.times.batch),
            *(_against(peer.scores[setting], peers[0].scores[setting]) for setting in settings),
        )
        for peer in peers
    )
    return (
        f"{_table(heading, rows)}\n\nNetworks alone, one thread, median; in brackets the difference to the first line."
    )


def _published(bits: int) -> str:
    return (
        f"This model keeps {bits // 8} bytes a photo. For scale, published and not measured here: CLIP ViT-B/32 has "
        "about 151 million parameters and describes a photo by 512 values, which are 2,048 bytes in float32."
    )


def _against(score: float, first: float) -> str:
    return f"{score:.3f} ({score - first:+.3f})"


def _milliseconds(timing: Timing) -> str:
    return f"{1000 * timing.p50:.2f} ms"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB" if size else "–"  # only Linux tells


def _table(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
