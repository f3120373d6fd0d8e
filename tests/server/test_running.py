"""The listening socket and the connections made through it."""

import http.client
import socket
import threading

import pytest

from sketchhash.errors import BadArgument
from sketchhash.server import Access, create_app, listen, server


def test_answers_do_not_wait_for_acknowledgements(service):
    with listen("127.0.0.1", 0) as listener:
        running = server(create_app(service, Access()))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        connection = http.client.HTTPConnection(*listener.getsockname(), timeout=10)
        connection.request("GET", "/health")
        assert connection.getresponse().read()
        (open_one,) = running.server_state.connections
        accepted = open_one.transport.get_extra_info("socket")
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        connection.close()
        running.should_exit = True
        thread.join(20)


def test_two_services_cannot_have_one_port():
    with listen("127.0.0.1", 0) as listener, pytest.raises(BadArgument, match="in use"):
        listen("127.0.0.1", listener.getsockname()[1])


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_addresses_of_the_newer_kind_can_be_listened_on():
    with listen("::1", 0) as listener:
        assert listener.getsockname()[0] == "::1"


def test_the_server_tells_nothing_about_itself(service, running):
    with running(create_app(service, Access())) as address:
        connection = http.client.HTTPConnection(*address, timeout=10)
        connection.request("GET", "/health")
        answer = connection.getresponse()
        assert answer.read() and answer.getheader("server") is None
        connection.close()
