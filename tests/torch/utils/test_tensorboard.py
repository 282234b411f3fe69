"""What SummaryWriter writes, as TensorBoard's own reader and its server see it."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time
import urllib.request
from importlib import import_module

import numpy as np
import pytest

import funcgrad.torch as torch
from funcgrad.torch import nn
from funcgrad.torch.utils.tensorboard import SummaryWriter, protos
from funcgrad.torch.utils.tensorboard.images import as_pixels, grid
from tests.optional import optional

accumulator = optional(
    "tensorboard.backend.event_processing.event_accumulator", "SummaryWriter has an extra of its own"
)
graph_pb2 = optional("tensorboard.compat.proto.graph_pb2")


def read(directory):
    """All that the event files of a directory say."""
    found = accumulator.EventAccumulator(
        str(directory), size_guidance={"images": 0, "scalars": 0, "histograms": 0, "tensors": 0}
    )
    return found.Reload()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(2, 1))
        self.layers = nn.Sequential(nn.Linear(1, 3), nn.ReLU())

    def forward(self, x, scale=None):
        first, second = self.layers(x @ self.w).split(2)
        return {"product": first * second if scale is None else first * scale}


# ---- values ----------------------------------------------------------------------------------------------------------
def test_scalars(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step, x in enumerate(
            [torch.tensor([1.5], requires_grad=True), np.float64(2.5), 3, torch.tensor(4)]
        ):
            writer.add_scalar("some/loss", x, step, walltime=10.0 + step)
    events = read(tmp_path).Scalars("some/loss")
    assert [(e.step, e.value, e.wall_time) for e in events] == [
        (0, 1.5, 10),
        (1, 2.5, 11),
        (2, 3, 12),
        (3, 4, 13),
    ]


def test_scalars_keep_double_precision_on_request(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("pi", np.pi, double_precision=True)
        writer.add_scalar("single", 0.5, new_style=True)
        writer.add_tensor("table", torch.ones(2, 3))
    found = read(tmp_path)
    numbers = import_module("tensorboard.util.tensor_util").make_ndarray
    assert numbers(found.Tensors("pi")[0].tensor_proto) == np.pi
    assert numbers(found.Tensors("single")[0].tensor_proto) == 0.5
    assert numbers(found.Tensors("table")[0].tensor_proto).tolist() == [[1, 1, 1], [1, 1, 1]]


def test_scalars_of_one_chart_go_to_files_of_their_own(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalars("a/loss", {"train": 1.0, "test": 2.0}, 7)
    assert read(tmp_path / "a_loss_train").Scalars("a/loss")[0].value == 1
    (event,) = read(tmp_path / "a_loss_test").Scalars("a/loss")
    assert (event.step, event.value) == (7, 2)


@pytest.mark.parametrize("x", [[1.0, 2.0], 1j, "1"])
def test_what_is_no_scalar_is_refused(tmp_path, x):
    with SummaryWriter(tmp_path) as writer, pytest.raises(ValueError, match="one real number"):
        writer.add_scalar("x", x)


@pytest.mark.parametrize(
    ("bins", "most"), [("tensorflow", None), ("tensorflow", 20), (10, None), ("auto", None)]
)
def test_histograms_count_all_values(tmp_path, bins, most):
    x = np.random.default_rng(0).normal(size=(50, 4))
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("h", torch.tensor(x), 3, bins=bins, max_bins=most)
    (event,) = read(tmp_path).Histograms("h")
    found = event.histogram_value
    assert (event.step, found.num, found.min, found.max) == (3, x.size, x.min(), x.max())
    assert found.sum == pytest.approx(x.sum())
    assert found.sum_squares == pytest.approx(np.sum(x**2))
    assert sum(found.bucket) == x.size
    counted = np.searchsorted(np.sort(x.ravel()), found.bucket_limit, side="left")
    assert counted[:-1].tolist() == np.cumsum(found.bucket)[:-1].tolist()


def test_zero_has_a_bucket_of_its_own(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("h", np.zeros(5))
        writer.add_histogram_raw("raw", 0, 1, 3, 2, 2, [0.5, 1.0], [1, 2])
    found = read(tmp_path)
    zero, raw = (found.Histograms(tag)[0].histogram_value for tag in ("h", "raw"))
    assert max(abs(limit) for limit in zero.bucket_limit) <= 1e-12
    assert (raw.bucket_limit, raw.bucket, raw.num) == ([0.5, 1.0], [1, 2], 3)


@pytest.mark.parametrize(
    ("x", "what"), [([], "no values"), ([1.0, np.nan, np.inf], "2 of the 3 values of 'h'")]
)
def test_histograms_of_nothing_are_refused(tmp_path, x, what):
    with SummaryWriter(tmp_path) as writer, pytest.raises(ValueError, match=what):
        writer.add_histogram("h", np.array(x))


def test_text(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_text("note", "**bold** ü", 2)
    (event,) = read(tmp_path).Tensors("note/text_summary")
    assert (event.step, event.tensor_proto.string_val[0].decode()) == (2, "**bold** ü")


def test_precision_and_recall_at_each_threshold(tmp_path):
    label, p = np.array([0, 1, 1, 0]), np.array([0.1, 0.9, 0.4, 0.6])
    with SummaryWriter(tmp_path) as writer:
        writer.add_pr_curve("pr", torch.tensor(label), torch.tensor(p), num_thresholds=5)
    found = import_module("tensorboard.util.tensor_util").make_ndarray(
        read(tmp_path).Tensors("pr")[0].tensor_proto
    )
    for k, threshold in enumerate([0, 0.25, 0.5, 0.75, 1]):
        positive = p >= threshold
        tp, fp = np.sum(positive & (label == 1)), np.sum(positive & (label == 0))
        expected = [tp, fp, 2 - fp, 2 - tp, tp / max(tp + fp, 1), tp / 2]
        assert found[:, k] == pytest.approx(expected)


def test_hyperparameters(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams(
            {"lr": 0.1, "name": "sgd", "nesterov": True},
            {"accuracy": 0.9},
            {"lr": [0.1, 0.2]},
            run_name="first",
        )
        with pytest.raises(ValueError, match="'shape' must be a number"):
            writer.add_hparams({"shape": (2, 3)}, {})
    found = read(tmp_path / "first")
    assert found.Scalars("accuracy")[0].value == pytest.approx(0.9)
    data = found.summary_metadata["_hparams_/session_start_info"].plugin_data
    parsed = import_module("tensorboard.plugins.hparams.metadata").parse_session_start_info_plugin_data(
        data.content
    )
    assert parsed.hparams["lr"].number_value == 0.1
    assert parsed.hparams["name"].string_value == "sgd"
    assert parsed.hparams["nesterov"].bool_value is True


# ---- pictures and sound ----------------------------------------------------------------------------------------------
def pixels_of(event):
    opened = import_module("PIL.Image").open(io.BytesIO(event.encoded_image_string))
    return np.array(opened)


@pytest.mark.parametrize("layout", ["CHW", "HWC", "NCHW", "NHWC", "HCNW"])
def test_an_image_of_any_layout_is_the_same(tmp_path, layout):
    image = np.random.default_rng(0).integers(256, size=(1, 4, 5, 3), dtype=np.uint8)
    given = image.transpose(
        ["NHWC".index(letter) for letter in layout if letter in "NHWC"] + ([] if "N" in layout else [0])
    )
    given = given if "N" in layout else given[..., 0]
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("im", torch.tensor(given), 1, dataformats=layout)
    (event,) = read(tmp_path).Images("im")
    assert (event.step, event.height, event.width) == (1, 4, 5)
    assert pixels_of(event).tolist() == image[0].tolist()


def test_images_stand_in_rows_of_eight():
    images = np.arange(10, dtype=np.uint8)[:, None, None, None] * np.ones((1, 2, 3, 1), np.uint8)
    found = grid(images)[..., 0]
    assert found.shape == (4, 24)
    assert found[::2, ::3].tolist() == [[*range(8)], [8, 9, 0, 0, 0, 0, 0, 0]]


def test_floats_are_scaled_and_single_channels_are_grey(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("im", torch.tensor([[0.0, 0.5], [1.0, 2.0]]), dataformats="HW")
        writer.add_images("both", torch.ones(2, 3, 2, 2) * torch.tensor([0.2, 0.6]).reshape(2, 1, 1, 1))
    found = read(tmp_path)
    assert pixels_of(found.Images("im")[0]).tolist() == [[0, 127], [255, 255]]
    assert pixels_of(found.Images("both")[0])[0, :, 0].tolist() == [51, 51, 153, 153]


@pytest.mark.parametrize(
    ("shape", "dtype", "layout", "what"),
    [
        ((4, 5), float, "CHW", "shape .4, 5. is not CHW"),
        ((2, 4, 5), float, "CHW", "1, 3 or 4 channels"),
        ((4, 5), int, "HW", "not int64"),
        ((4, 5), float, "HX", "names each axis"),
    ],
)
def test_what_is_no_image_is_refused(shape, dtype, layout, what):
    with pytest.raises(ValueError, match=what):
        as_pixels("add_image", np.zeros(shape, dtype), layout)


def test_figures(tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure = pyplot.figure(figsize=(2, 1), dpi=50, facecolor="red")
    with SummaryWriter(tmp_path) as writer:
        writer.add_figure("one", figure, close=False)
        writer.add_figure("two", [figure, figure])
    found = read(tmp_path)
    assert pixels_of(found.Images("one")[0])[0, 0].tolist() == [255, 0, 0, 255]
    assert (found.Images("two")[0].height, found.Images("two")[0].width) == (50, 200)
    assert not pyplot.fignum_exists(figure.number)


def test_sound(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_audio("tone", torch.tensor([[0.0, 1.0, -1.0, 5.0]]), sample_rate=8000)
        with pytest.raises(ValueError, match="one channel"):
            writer.add_audio("tone", np.zeros((2, 3)))
    (event,) = read(tmp_path).Audio("tone")
    assert (event.sample_rate, event.length_frames, event.content_type) == (8000, 4, "audio/wav")
    assert np.frombuffer(event.encoded_audio_string[-8:], "<i2").tolist() == [0, 32767, -32767, 32767]


def test_embeddings(tmp_path):
    points = np.arange(6.0).reshape(3, 2)
    with SummaryWriter(tmp_path) as writer:
        writer.add_embedding(torch.tensor(points), ["a", "b b", "c\td"], torch.ones(3, 1, 2, 2), 5, "first")
        writer.add_embedding(
            points, [["x", 1], ["y", 2], ["z", 3]], tag="second", metadata_header=["name", "size"]
        )
        writer.add_embedding(points, tag="second", metadata=["x", "y", "z"])
        with pytest.raises(ValueError, match="one row of metadata"):
            writer.add_embedding(points, ["a"])
    assert np.loadtxt(tmp_path / "00005/first/tensors.tsv").tolist() == points.tolist()
    assert (tmp_path / "00005/first/metadata.tsv").read_text() == "a\nb b\nc d\n"
    config = (tmp_path / "projector_config.pbtxt").read_text()
    assert re.findall(r'tensor_name: "(.*)"', config) == ["first:00005", "second:00000"]
    assert "single_image_dim: 2" in config


# ---- files -----------------------------------------------------------------------------------------------------------
def test_names_of_directories_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    writer = SummaryWriter(comment="_lr_0.1", filename_suffix=".mine")
    writer.close()
    (directory,) = (tmp_path / "runs").iterdir()
    assert writer.get_logdir() == str(directory.relative_to(tmp_path))
    assert directory.name.endswith("_lr_0.1")
    (file,) = directory.iterdir()
    assert re.fullmatch(r"events\.out\.tfevents\.\d+\..*\.mine", file.name)


def test_flush_writes_what_waits(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("x", 1.0)
    writer.flush()
    assert read(tmp_path).Scalars("x")[0].value == 1
    writer.close()


def test_after_close_a_new_file_is_begun(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.close()
    writer.add_scalar("x", 1.0)
    writer.close()
    assert len(list(tmp_path.iterdir())) == 2
    assert read(tmp_path).Scalars("x")[0].value == 1


def test_purged_steps_are_forgotten(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(4):
            writer.add_scalar("x", step, step)
    with SummaryWriter(tmp_path, purge_step=2, filename_suffix=".later") as writer:
        writer.add_scalar("x", 20.0, 2)
    assert [e.value for e in read(tmp_path).Scalars("x")] == [0, 1, 20]


def test_what_is_not_there_says_what_to_use(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(AttributeError, match="add_images"):
            writer.add_video("v", None)
        with pytest.raises(AttributeError, match="no attribute 'add_nothing'"):
            writer.add_nothing()


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto.event_pb2", None)
    protos.protos.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'funcgrad\[tensorboard\]'"):
        SummaryWriter(tmp_path)


# ---- graphs ----------------------------------------------------------------------------------------------------------
def graph_of(directory):
    (accumulated,) = [read(directory).Graph()]
    return {node.name: node for node in accumulated.node}


def shapes_of(node):
    return [[dim.size for dim in shape.dim] for shape in node.attr["_output_shapes"].list.shape]


def test_a_graph_has_the_scopes_of_modules(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(Net(), torch.rand(4, 2))
    nodes = graph_of(tmp_path)
    linear = "Net/Sequential[layers]/Linear[0]"
    assert {name: node.op for name, node in nodes.items()} == {
        "input/x": "IO Node",
        "Net/w": "Parameter",
        f"{linear}/weight": "Parameter",
        f"{linear}/bias": "Parameter",
        "Net/Mm": "Mm",
        f"{linear}/Addmm": "Addmm",
        "Net/Sequential[layers]/ReLU[1]/Relu": "Relu",
        "Net/Split": "Split",
        "Net/Mul": "Mul",
        "output/output_product": "IO Node",
    }
    assert list(nodes["Net/Mm"].input) == ["input/x", "Net/w"]
    assert set(nodes[f"{linear}/Addmm"].input) == {"Net/Mm", f"{linear}/weight", f"{linear}/bias"}
    assert list(nodes["Net/Mul"].input) == ["Net/Split", "Net/Split:1"]
    assert list(nodes["output/output_product"].input) == ["Net/Mul"]
    assert shapes_of(nodes[f"{linear}/Addmm"]) == [[4, 3]]
    assert shapes_of(nodes["Net/Split"]) == [[2, 3], [2, 3]]
    assert nodes["Net/Mul"].attr["dtype"].s == b"float32"


def test_every_edge_of_a_graph_leads_to_a_node(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(Net(), (torch.rand(4, 2), torch.rand(2, 3)))
    nodes = graph_of(tmp_path)
    assert {"input/x", "input/scale"} <= set(nodes)
    for node in nodes.values():
        assert all(name.partition(":")[0] in nodes for name in node.input)
    assert list(nodes["Net/Mul"].input) == ["Net/Split", "input/scale"]


def test_a_graph_is_added_as_people_are_used_to(tmp_path, monkeypatch):
    from funcgrad.torch.utils import tensorboard

    class Affine(nn.Module):
        def __init__(self):
            super(Affine, self).__init__()  # noqa: UP008 (as older code writes it)
            self.w = nn.Parameter(torch.randn(2, 1))
            self.b = nn.Parameter(torch.zeros(1, 1))

        def forward(self, x):
            return x @ self.w + self.b

    monkeypatch.chdir(tmp_path)
    writer = tensorboard.SummaryWriter("./tensorboard")
    writer.add_graph(Affine(), input_to_model=torch.rand(10, 2))
    writer.close()
    edges = {name: list(node.input) for name, node in graph_of(tmp_path / "tensorboard").items()}
    assert edges["Affine/Add"] == ["Affine/Mm", "Affine/b"]
    assert edges["Affine/Mm"] == ["input/x", "Affine/w"]


def test_a_module_that_runs_twice_has_one_scope(tmp_path):
    shared = nn.Sequential(nn.Tanh())
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(nn.Sequential(shared, shared), torch.rand(3))
    names = [name for name in graph_of(tmp_path) if "Tanh" in name]
    assert names == ["Sequential/Sequential[0]/Tanh[0]/Tanh", "Sequential/Sequential[0]/Tanh[0]/Tanh_1"]


def test_a_node_names_what_it_calls(tmp_path):
    attention = nn.MultiheadAttention(4, 2)
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(
            lambda x: torch.tanh(x) * attention(x, x, x, need_weights=False)[0], torch.rand(3, 1, 4)
        )
    calls = {
        name: node.attr["calls"].s.decode()
        for name, node in graph_of(tmp_path).items()
        if "calls" in node.attr
    }
    assert calls.pop("lambda/Tanh") == "tanh"
    assert calls.pop("lambda/Mul") == "multiply"
    assert "affine" in ", ".join(calls.values()).split(", ")


def test_a_plain_function_and_its_changes_in_place(tmp_path):
    def double(x):
        x.mul_(2)
        return x

    given = torch.ones(2)
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(double, given)
    nodes = graph_of(tmp_path)
    assert list(nodes["output/output"].input) == ["double/Mul"]
    assert given.tolist() == [1, 1]


def test_adding_a_graph_leaves_no_hooks_and_no_gradients(tmp_path):
    net = Net()
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(net, torch.rand(4, 2))
        with pytest.raises(RuntimeError):
            writer.add_graph(net, torch.rand(4, 3))
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in net.modules())
    assert all(p.grad is None for p in net.parameters())


def test_a_server_of_tensorboard_shows_the_graph(tmp_path):
    with SummaryWriter(tmp_path / "logs") as writer:
        writer.add_graph(Net(), torch.rand(4, 2))
    log = tmp_path / "log"
    command = [
        sys.executable,
        "-m",
        "tensorboard.main",
        "--logdir",
        str(tmp_path / "logs"),
        "--host",
        "127.0.0.1",
        "--port",
        "0",
    ]
    with (
        log.open("w") as out,
        subprocess.Popen([*command, "--load_fast", "false"], stdout=out, stderr=out) as server,
    ):
        try:
            graph = served_graph(log, deadline=time.monotonic() + 60)
        finally:
            server.terminate()
    assert 'name: "Net/Sequential[layers]/ReLU[1]/Relu"' in graph


def served_graph(log, deadline):
    """What the server answers, once it has started and read the files."""
    while time.monotonic() < deadline:
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        if found and '"run_graph": true' in fetch(f"{found[0]}/data/plugin/graphs/info"):
            return fetch(f"{found[0]}/data/plugin/graphs/graph?run=.")
        time.sleep(0.2)
    raise AssertionError(f"no graph was served: {log.read_text()}")


def fetch(address):
    with urllib.request.urlopen(address, timeout=30) as answer:
        return answer.read().decode()


def test_the_graph_is_of_the_type_that_tensorboard_reads(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(nn.Linear(2, 3), torch.rand(4, 2))
    assert isinstance(read(tmp_path).Graph(), graph_pb2.GraphDef)
