"""Which recipe runs a service? By the image's name; anything built here is an application."""

from writepath.errors import UsageError
from writepath.runtime.native.application import Application
from writepath.runtime.native.elasticsearch import Elasticsearch
from writepath.runtime.native.part import Recipe
from writepath.runtime.native.postgres import Postgres
from writepath.runtime.native.proxies import Nginx, Toxiproxy
from writepath.runtime.native.rabbitmq import RabbitMq
from writepath.runtime.topology import Service

_BY_IMAGE: dict[str, Recipe] = {
    "postgres": Postgres(),
    "rabbitmq": RabbitMq(),
    "elasticsearch": Elasticsearch(),
    "nginx": Nginx(),
    "toxiproxy": Toxiproxy(),
}
_APPLICATION: Recipe = Application()


def of(service: Service) -> Recipe:
    """UsageError for an image that has no recipe."""
    if service.module:
        return _APPLICATION
    if service.image_name not in _BY_IMAGE:
        raise UsageError(
            f"docker-compose.yml: services.{service.name}.image: RUNTIME=native cannot start {service.image}; "
            f"it can start {', '.join(_BY_IMAGE)}, and services built from this checkout."
            " Use RUNTIME=docker, or add a recipe."
        )
    return _BY_IMAGE[service.image_name]
