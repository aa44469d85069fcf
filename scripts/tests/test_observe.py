"""OBSERVE=1: what is scraped, natively and in the compose network, and what a start with it shows."""

from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml

from writepath import lock
from writepath.config import registry
from writepath.errors import SetupError
from writepath.process import CallError
from writepath.runtime import observe, topology
from writepath.runtime.docker import images
from writepath.runtime.native import NativeRuntime
from writepath.runtime.network import first_requests

ROOT = Path(__file__).resolve().parents[2]
SERVICES = topology.load(ROOT, {}).services


def test_every_application_is_looked_up_at_its_management_port() -> None:
    config = yaml.safe_load((ROOT / observe.CONFIGURATION).read_text(encoding="utf-8"))
    (job,) = config["scrape_configs"]
    (found,) = job["dns_sd_configs"]
    applications = {name: service for name, service in SERVICES.items() if service.module}
    assert set(found["names"]) == set(applications)
    assert all(found["port"] in service.published for service in applications.values())


def test_natively_the_same_job_has_each_instance_as_a_target() -> None:
    targets = {"jpa-writer": ["127.0.0.1:1", "127.0.0.1:2"], "rabbitmq-consumer": ["127.0.0.1:3"]}
    (job,) = yaml.safe_load(observe.scraping(ROOT, targets))["scrape_configs"]
    assert job["metrics_path"] == "/actuator/prometheus"
    assert {one["labels"]["service"]: one["targets"] for one in job["static_configs"]} == targets


@pytest.mark.parametrize("name", ["prometheus", "grafana"])
def test_an_image_that_cannot_be_pulled_is_named_with_setting_and_remedy(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Empty:
        """An engine without an image."""

        def image_id(self, _image: str) -> None:
            return None

    def refused(*_words: str) -> str:
        raise CallError("no such host")

    monkeypatch.setattr(images, "call", refused)
    with pytest.raises(SetupError) as error:
        images.ensure(None, [SERVICES[name]], Empty(), lambda _: None)  # type: ignore[arg-type]
    said = str(error.value)
    assert all(part in said for part in (SERVICES[name].image, f"{name.upper()}_IMAGE=", "or omit OBSERVE=1"))


@pytest.mark.native
def test_a_native_start_prints_what_to_scrape_with_buckets_of_response_times() -> None:
    runtime, variant = NativeRuntime(ROOT), registry.load(ROOT).variant("jpa")
    with lock.exclusive(ROOT / ".writepath", "test"):
        runtime.prepare([variant], print)
        with runtime.start(variant, overrides={**observe.HISTOGRAM, "INSTANCES": "2"}, say=print) as stack:
            lines = observe.addresses(ROOT, stack, [variant.ingress])
            urls = [line.removeprefix("scrape ") for line in lines if line.startswith("scrape ")]
            for _, why_not in first_requests(int(stack.base_url.rpartition(":")[2]), variant.serves):
                assert not why_not()
            texts = []
            for url in urls:
                with urlopen(url) as answer:  # noqa: S310 a loopback address
                    texts.append(answer.read().decode())
    assert len(urls) == 2
    assert any("http_server_requests_seconds_bucket{" in text for text in texts)
    configuration = next(line.partition("=")[2] for line in lines if "--config.file=" in line)
    assert all(url.split("/")[2] in Path(configuration).read_text(encoding="utf-8") for url in urls)
