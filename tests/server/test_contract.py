"""The interface keeps to its own description, whatever is sent."""

from collections import Counter

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from sketchhash.server import Access, create_app

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 15
PHOTOS = 6


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_route_answers_as_described(service, mode):
    app = create_app(service, Access(hosts=frozenset({"localhost", "testserver"})))
    operations = [found.ok() for found in schemathesis.openapi.from_asgi("/openapi.json", app).get_all_operations()]
    assert len(operations) >= 9
    answers = Counter()
    for operation in operations:
        has_input = operation.body or operation.path_parameters or operation.query
        if mode is GenerationMode.POSITIVE or has_input:
            answers += _try(operation, mode)
    assert answers[200 if mode is GenerationMode.POSITIVE else 422] > EXAMPLES


def _try(operation, mode):
    statuses = Counter()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def answer(case):
        if mode is GenerationMode.POSITIVE and "photo_id" in case.path_parameters:
            case.path_parameters["photo_id"] %= PHOTOS + 2  # else none would be found
        statuses[case.call_and_validate(checks=CHECKS).status_code] += 1

    answer()
    return statuses
