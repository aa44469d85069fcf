"""What answers at once, so that all a load shows is the generator? nginx that returns 201 to everything."""

import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from writepath.errors import SetupError
from writepath.process import Daemon
from writepath.provision import packages
from writepath.runtime import network
from writepath.runtime.network import LOOPBACK, free_ports

READY_SECONDS = 20.0
_PAUSE_SECONDS = 0.02
_CREATED = 201
_CONFIG = """\
worker_processes 1;
pid {folder}/nginx.pid.own;
error_log stderr warn;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen {address} backlog=4096;
    location / {{ return 201; }}
  }}
}}
"""


@contextmanager
def null_server(folder: Path, prefix: Sequence[str] = ()) -> Iterator[str]:
    """Its base URL while it runs. prefix: what starts it, such as `taskset -c 0`."""
    program = packages.NGINX.installed()
    port = free_ports()[0]
    config = folder / "nginx.conf"
    config.write_text(_CONFIG.format(folder=folder, address=f"{LOOPBACK}:{port}"), encoding="utf-8")
    daemon = Daemon(
        "nginx",
        [*prefix, program, "-p", folder, "-c", config, "-e", "stderr", "-g", "daemon off;"],
        pid_folder=folder,
        log=folder / "nginx.log",
        death_signal=signal.SIGTERM,  # SIGKILL of the master would leave its worker behind
    )
    try:
        _await(daemon, port)
        yield f"http://{LOOPBACK}:{port}"
    finally:
        daemon.stop()


def _await(daemon: Daemon, port: int) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while network.http_request("GET", port, "/")[0] != _CREATED:
        if daemon.exit_code() is not None or time.monotonic() > deadline:
            raise SetupError(f"nginx did not start. The end of its log:\n{daemon.log_tail()}")
        time.sleep(_PAUSE_SECONDS)
