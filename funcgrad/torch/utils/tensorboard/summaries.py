"""What is logged as TensorBoard's messages: numbers, histograms, text, curves, hyperparameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.torch.utils.tensorboard.protos import as_array, as_number, plugin, protos, summary


def scalar(tag: str, x: Any, new_style: bool = False, double_precision: bool = False) -> Any:
    """One number."""
    number = as_number("add_scalar", x)
    types = protos()
    if double_precision:
        return summary(
            tag,
            tensor=types.TensorProto(double_val=[number], dtype=types.DT_DOUBLE),
            metadata=plugin("scalars"),
        )
    if new_style:
        return summary(
            tag,
            tensor=types.TensorProto(float_val=[number], dtype=types.DT_FLOAT),
            metadata=plugin("scalars"),
        )
    return summary(tag, simple_value=number)


def tensor(tag: str, x: Any) -> Any:
    """An array as it is."""
    return summary(tag, tensor=protos().make_tensor_proto(as_array(x)), metadata=plugin("tensor"))


def text(tag: str, written: str) -> Any:
    """Text, which TensorBoard reads as Markdown."""
    types = protos()
    shape = types.TensorShapeProto(dim=[types.TensorShapeProto.Dim(size=1)])
    content = types.TensorProto(dtype=types.DT_STRING, string_val=[written.encode()], tensor_shape=shape)
    return summary(f"{tag}/text_summary", tensor=content, metadata=plugin("text"))


# ---- histograms ------------------------------------------------------------------------------------------------------
def exponential_edges() -> np.ndarray:
    """TensorFlow's buckets: edges that grow by a tenth from 1e-12 to 1e20, on both sides of 0."""
    positive = 1e-12 * 1.1 ** np.arange(774)
    return np.concatenate([-positive[::-1], [0.0], positive])


def histogram(tag: str, values: Any, bins: Any = "tensorflow", max_bins: int | None = None) -> Any:
    """How values are distributed."""
    x = as_array(values).ravel()
    if not x.size:
        raise ValueError(f"add_histogram: {tag!r} has no values")
    if not np.all(np.isfinite(x)):
        raise ValueError(
            f"add_histogram: {np.sum(~np.isfinite(x))} of the {x.size} values of {tag!r} are NaN or infinite"
        )
    x = x.astype(np.float64)
    counts, edges = np.histogram(x, exponential_edges() if bins == "tensorflow" else bins)
    if max_bins is not None and len(counts) > max_bins:
        step = -(-len(counts) // max_bins)
        counts = np.add.reduceat(counts, np.arange(0, len(counts), step))
        edges = np.append(edges[:-1:step], edges[-1])
    first, last = np.flatnonzero(counts)[[0, -1]]
    counts, edges = counts[first : last + 1], edges[first : last + 2]
    # TensorBoard knows the upper edge of each bucket: the lowest edge is that of an empty one before the
    # first.
    return histogram_raw(tag, x.min(), x.max(), x.size, x.sum(), x @ x, edges, np.append(0, counts))


def histogram_raw(
    tag: str, low: float, high: float, num: float, total: float, sum_squares: Any, limits: Any, counts: Any
) -> Any:
    """A histogram that was counted elsewhere: `limits` are the upper edges."""
    limits, counts = as_array(limits), as_array(counts)
    if limits.shape != counts.shape:
        raise ValueError(
            f"add_histogram_raw: one limit for each count, found shapes {limits.shape} and {counts.shape}"
        )
    sums = {"min": low, "max": high, "num": num, "sum": total, "sum_squares": sum_squares}
    buckets = {"bucket_limit": limits.tolist(), "bucket": counts.tolist()}
    return summary(tag, histo=protos().HistogramProto(**{k: float(v) for k, v in sums.items()}, **buckets))


# ---- precision and recall --------------------------------------------------------------------------------------------
def pr_curve(tag: str, labels: Any, predictions: Any, thresholds: int = 127, weights: Any = None) -> Any:
    """Precision and recall of `predictions` against `labels` (0 or 1), at equally spaced thresholds."""
    label, p = as_array(labels).ravel().astype(float), as_array(predictions).ravel()
    weight = np.broadcast_to(1.0 if weights is None else as_array(weights).ravel(), label.shape)
    if label.shape != p.shape:
        raise ValueError(f"add_pr_curve: one prediction for each label, found {p.size} and {label.size}")
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("add_pr_curve: predictions are probabilities, in [0, 1]")
    bucket = np.floor(p * (thresholds - 1)).astype(int)

    def at_least(what: np.ndarray) -> np.ndarray:
        return np.cumsum(np.bincount(bucket, what * weight, minlength=thresholds)[::-1])[::-1]

    tp, fp = at_least(label), at_least(1 - label)
    return pr_curve_raw(
        tag, tp, fp, fp[0] - fp, tp[0] - tp, _share(tp, tp + fp), _share(tp, np.full_like(tp, tp[0]))
    )


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, and 0 of nothing."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def pr_curve_raw(tag: str, *rows: Any) -> Any:
    """A curve counted elsewhere: true and false positives and negatives, precision, recall."""
    table = np.stack([as_array(row) for row in rows]).astype(np.float32)
    data = import_module("tensorboard.plugins.pr_curve.plugin_data_pb2").PrCurvePluginData(
        num_thresholds=table.shape[1]
    )
    return summary(
        tag, tensor=protos().make_tensor_proto(table), metadata=plugin("pr_curves", data.SerializeToString())
    )


# ---- hyperparameters -------------------------------------------------------------------------------------------------
def hparams(
    settings: Mapping[str, Any], metrics: Sequence[str], domains: Mapping[str, Sequence[Any]] | None
) -> list[Any]:
    """The three messages of a session: what is varied and measured, with which values, and that it has ended."""
    api = import_module("tensorboard.plugins.hparams.api_pb2")
    data = import_module("tensorboard.plugins.hparams.plugin_data_pb2")
    metadata = import_module("tensorboard.plugins.hparams.metadata")
    values = {name: _setting(name, x) for name, x in settings.items()}
    infos = []
    for name, x in values.items():
        kind = {bool: api.DATA_TYPE_BOOL, str: api.DATA_TYPE_STRING, float: api.DATA_TYPE_FLOAT64}[type(x)]
        infos.append(api.HParamInfo(name=name, type=kind))
        for choice in (domains or {}).get(name, ()):
            infos[-1].domain_discrete.values.add(**_typed(_setting(name, choice)))
    measured = [api.MetricInfo(name=api.MetricName(tag=tag)) for tag in metrics]
    start = data.SessionStartInfo()
    for name, x in values.items():
        for field, value in _typed(x).items():
            setattr(start.hparams[name], field, value)
    contents = (
        (metadata.EXPERIMENT_TAG, {"experiment": api.Experiment(hparam_infos=infos, metric_infos=measured)}),
        (metadata.SESSION_START_INFO_TAG, {"session_start_info": start}),
        (metadata.SESSION_END_INFO_TAG, {"session_end_info": data.SessionEndInfo(status=api.STATUS_SUCCESS)}),
    )
    return [
        summary(
            tag,
            tensor=metadata.NULL_TENSOR,
            metadata=metadata.create_summary_metadata(data.HParamsPluginData(**content)),
        )
        for tag, content in contents
    ]


def _setting(name: str, x: Any) -> bool | str | float:
    """The value of a hyperparameter as one of the three types that TensorBoard knows."""
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    if isinstance(x, str):
        return x
    found = as_array(x)
    if x is None or found.size != 1 or found.dtype.kind not in "uif":
        raise ValueError(
            f"add_hparams: {name!r} must be a number, a string, a bool or a one-element tensor, not {x!r}"
        )
    return float(found.reshape(()))


def _typed(x: bool | str | float) -> dict[str, Any]:
    """The field of protobuf's Value that holds it."""
    return {f"{ {bool: 'bool', str: 'string', float: 'number'}[type(x)] }_value": x}
