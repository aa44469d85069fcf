"""How does a variant run as containers? `docker compose` starts it, the engine's API tells of it."""

from writepath.runtime.docker.runtime import DockerRuntime

__all__ = ["DockerRuntime"]
