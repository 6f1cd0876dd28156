"""Figures for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

_ACKNOWLEDGED = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_TOOK = (1.0, 5.0, 30.0, 60.0, 300.0, 900.0, 1800.0, 3600.0, 10800.0)


class Metrics:
    """Counters of one process, and what the database knows of all."""

    def __init__(self, counts: Callable[[], Mapping[tuple[str, str], int]]) -> None:
        self.registry = CollectorRegistry()
        self.deliveries = Counter(
            "optiml_deliveries", "Webhook deliveries", ["outcome"], registry=self.registry
        )
        self.acknowledged = Histogram(
            "optiml_acknowledge_seconds",
            "From a delivery's last byte to its durable 202",
            buckets=_ACKNOWLEDGED,
            registry=self.registry,
        )
        self.ended = Counter(
            "optiml_jobs_ended", "Jobs that ended", ["kind", "state"], registry=self.registry
        )
        self.took = Histogram(
            "optiml_job_seconds",
            "From a job's delivery to its end",
            ["kind"],
            buckets=_TOOK,
            registry=self.registry,
        )
        self.taken_over = Counter(
            "optiml_jobs_taken_over", "Jobs of replicas that died", registry=self.registry
        )
        self.registry.register(_Jobs(counts))
        ProcessCollector(registry=self.registry)

    def text(self) -> bytes:
        """Return all figures in Prometheus' text format."""
        return generate_latest(self.registry)


class _Jobs(Collector):
    def __init__(self, counts: Callable[[], Mapping[tuple[str, str], int]]) -> None:
        self._counts = counts

    def describe(self) -> list[Metric]:
        return [GaugeMetricFamily("optiml_jobs", "Jobs in the database")]

    def collect(self) -> Iterator[Metric]:
        found = GaugeMetricFamily("optiml_jobs", "Jobs in the database", labels=["kind", "state"])
        for (kind, state), number in self._counts().items():
            found.add_metric([kind, state], number)
        yield found
