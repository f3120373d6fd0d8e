"""Turn a network that no longer learns into an ONNX graph: what model folders hold, and what is fast on a processor."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


def trace(network: nn.Module, examples: Mapping[str, Tensor], output: str) -> bytes:
    """Return a self-contained ONNX graph of a network, with a free first axis.

    ``examples`` are the network's inputs by name, two rows each: the exporter takes an axis of length 1 for one that
    always has it.
    """
    rows = torch.export.Dim("n", min=1)
    with _silent_exporter():
        program = torch.onnx.export(
            network.eval(),
            kwargs=dict(examples),
            input_names=list(examples),
            output_names=[output],
            dynamic_shapes={name: {0: rows} for name in examples},
            dynamo=True,
            verbose=False,
        )
    assert program is not None  # as it is for every export with dynamo
    model = program.model_proto
    graph = model.graph
    # The exporter notes in each part which line of which file it comes from: paths of this computer.
    for part in (graph, *graph.node, *graph.input, *graph.output, *graph.value_info):
        part.ClearField("metadata_props")
    traced: bytes = model.SerializeToString()
    return traced


def traced_function(network: nn.Module, example: Tensor) -> Callable[[Tensor], NDArray[np.float32]]:
    """Return a function that computes what a network of one input computes, on all cores of this processor.

    onnxruntime takes a quarter of the time that torch takes for an EfficientNet; tracing takes some seconds.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count() or 1
    options.log_severity_level = 3
    graph = trace(network, {"pictures": example[:1].repeat(2, *[1] * (example.dim() - 1))}, "values")
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    def compute(pictures: Tensor) -> NDArray[np.float32]:
        values: NDArray[np.float32] = session.run(None, {"pictures": pictures.numpy()})[0]
        return values

    return compute


@contextmanager
def _silent_exporter() -> Iterator[None]:
    """Keep back what torch 2.13 says of itself: its own deprecations, and that torchvision is missing."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)
