"""SummaryWriter: event files in a directory, with a step and a time for each value."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from funcgrad.torch.utils.tensorboard import images, summaries
from funcgrad.torch.utils.tensorboard.graph import model_graph
from funcgrad.torch.utils.tensorboard.projector import write_embedding
from funcgrad.torch.utils.tensorboard.protos import as_array, protos

_REFUSED = {
    "add_video": "it needs an encoder for GIF: log frames with add_images",
    "add_mesh": "log points with add_embedding, or a picture with add_figure",
    "add_image_with_boxes": "draw the boxes with Matplotlib, and log that with add_figure",
    "add_onnx_graph": "funcgrad knows no ONNX: log a model with add_graph",
    "add_custom_scalars": "log curves for one chart with add_scalars",
    "add_custom_scalars_multilinechart": "log curves for one chart with add_scalars",
    "add_custom_scalars_marginchart": "log curves for one chart with add_scalars",
}


class SummaryWriter:
    """Writes what TensorBoard shows into event files in `log_dir` (by default runs/<date and
    time>_<host><comment>).

    Values may be tensors, arrays or numbers. With `purge_step`, TensorBoard forgets what earlier files say of
    that step and later ones. Raises ImportError where the tensorboard package is absent (the extra
    `tensorboard`).

        with SummaryWriter("runs/first") as writer:
            writer.add_graph(model, x)
            for step in range(100):
                ...
                writer.add_scalar("loss", loss, step)
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        self._types = protos()
        if not log_dir:
            log_dir = Path("runs") / f"{time.strftime('%b%d_%H-%M-%S')}_{socket.gethostname()}{comment}"
        self.log_dir = str(log_dir)
        self._settings = (max_queue, flush_secs, filename_suffix)
        self._writers: dict[str, Any] = {}
        self._open(self.log_dir)
        if purge_step is not None:
            start = self._types.SessionLog(status=self._types.SessionLog.START)
            self._write(self._types.Event(session_log=start), purge_step, None)

    def __getattr__(self, name: str) -> Any:
        if name in _REFUSED:
            raise AttributeError(f"SummaryWriter has no {name}: {_REFUSED[name]}")
        raise AttributeError(f"'SummaryWriter' object has no attribute {name!r}")

    def _open(self, directory: str) -> Any:
        """The writer of a directory, opened when it is first needed (and again after close)."""
        if directory not in self._writers:
            self._writers[directory] = self._types.EventFileWriter(directory, *self._settings)
        return self._writers[directory]

    def _write(self, event: Any, step: Any, walltime: float | None, directory: str | None = None) -> None:
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self._open(directory or self.log_dir).add_event(event)

    def _add(self, summary: Any, step: Any, walltime: float | None, directory: str | None = None) -> None:
        self._write(self._types.Event(summary=summary), step, walltime, directory)

    # ---- numbers -----------------------------------------------------------------------------------------------------
    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """One number (or what holds one). Stored as float32, or with `double_precision` as float64."""
        self._add(summaries.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Several numbers in one chart: each has a file of its own, in a directory beside."""
        walltime = time.time() if walltime is None else walltime
        for tag, x in tag_scalar_dict.items():
            directory = f"{self.log_dir}/{main_tag.replace('/', '_')}_{tag}"
            self._add(summaries.scalar(main_tag, x), global_step, walltime, directory)

    def add_tensor(
        self, tag: str, tensor: Any, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """A whole array, for programs that read the file."""
        self._add(summaries.tensor(tag, tensor), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """How values (of any shape) are distributed. `bins`: 'tensorflow' (edges that grow by a tenth) or as
        in np.histogram.

        Raises ValueError if there are none, or some are NaN or infinite.
        """
        self._add(summaries.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: float,
        sum: float,
        sum_squares: float,
        bucket_limits: Any,
        bucket_counts: Any,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """A histogram that was counted elsewhere: upper edges and counts."""
        made = summaries.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add(made, global_step, walltime)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Precision against recall, of probabilities and labels (0 or 1) of equal shape."""
        self._add(
            summaries.pr_curve(tag, labels, predictions, num_thresholds, weights), global_step, walltime
        )

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """The same, counted elsewhere: a value per threshold (`num_thresholds`, `weights` tell no more)."""
        counts = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts)
        self._add(summaries.pr_curve_raw(tag, *counts, precision, recall), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """What was set in this run, and what came out, as a run of its own in a directory below."""
        directory = str(Path(self.log_dir) / (run_name or str(time.time())))
        for made in summaries.hparams(hparam_dict, list(metric_dict), hparam_domain_discrete):
            self._add(made, None, None, directory)
        for tag, x in metric_dict.items():
            self._add(summaries.scalar(tag, x), global_step, None, directory)
        self._writers.pop(directory).close()

    # ---- text, pictures, sound ---------------------------------------------------------------------------------------
    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Text, shown as Markdown."""
        self._add(summaries.text(tag, text_string), global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """An image of 1, 3 or 4 channels: uint8, or floating in [0, 1]; `dataformats`: 'CHW', 'HWC', ..."""
        pixels = images.as_pixels("add_image", img_tensor, dataformats)
        self._add(images.image(tag, pixels), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Several images, in rows of eight. `dataformats` names the axes: 'NCHW', 'NHWC', 'NHW', ..."""
        pixels = images.as_pixels("add_images", img_tensor, dataformats)
        self._add(images.image(tag, pixels), global_step, walltime)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """A figure of Matplotlib, or a list of figures of one size; afterwards they are closed."""
        pixels = images.figure_pixels(figure, close)
        self.add_images(tag, pixels if pixels.ndim == 4 else pixels[None], global_step, walltime, "NHWC")

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: int | None = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Sound: samples in [-1, 1], of shape (n,) or (1, n)."""
        self._add(images.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_embedding(
        self,
        mat: Any,
        metadata: Sequence[Any] | None = None,
        label_img: Any = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Points (n, d) for the projector, with a label (or row of metadata) and an image for each."""
        step = 0 if global_step is None else int(global_step)
        pictures = None if label_img is None else as_array(label_img)
        name = f"{tag}:{step:05d}"
        write_embedding(
            Path(self.log_dir), f"{step:05d}/{tag}", name, mat, metadata, metadata_header, pictures
        )

    # ---- models ------------------------------------------------------------------------------------------------------
    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """The graph of a model: the operations that one run on `input_to_model` records, in the scopes of its
        modules.

        `input_to_model` is the argument, or a tuple of them. The model runs in the mode that it is in: where
        running it changes buffers or draws random numbers, this does too. `verbose` prints the graph;
        `use_strict_trace` means nothing here.
        """
        graph = model_graph(model, input_to_model)
        if verbose:
            print(graph)  # noqa: T201 (asked for)
        self._write(self._types.Event(graph_def=graph.SerializeToString()), None, None)

    # ---- files -------------------------------------------------------------------------------------------------------
    def get_logdir(self) -> str:
        """The directory."""
        return self.log_dir

    def flush(self) -> None:
        """Write to disk what waits in memory."""
        for writer in self._writers.values():
            writer.flush()

    def close(self) -> None:
        """Write what waits, and close the files. What is added afterwards goes to new ones."""
        while self._writers:
            self._writers.popitem()[1].close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
