"""Servers of one's own for tests and for trying out: got, started on free ports of the loopback, waited for, stopped.

Standard library only. One module a server; :data:`KINDS` is all of them. A module of a kind has

``NAME``, ``VERSIONS`` (what is expected, for people), ``STOP`` (the signal that ends it well)
``programs()``            its programs, or :class:`Missing`
``install()``             gets them, or :class:`Missing`
``version()``             which one there is
``prepare(place)``        makes its data folder, as the user that it will run as
``command(place)``        what is started
``answers(port)``         whether it serves, in its own protocol
``uri(port, database)``   where newsportal finds it
"""

from local_servers import elasticsearch, mariadb, mongodb, postgresql, redis
from local_servers.machine import Missing

__all__ = ["KINDS", "Missing"]

KINDS = {kind.NAME: kind for kind in (redis, postgresql, mariadb, mongodb, elasticsearch)}
