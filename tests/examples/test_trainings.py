"""The short form of each training learns what it should."""

from importlib import import_module

import numpy as np
import pytest

from tests.optional import optional

optional("tqdm", reason="the examples have an extra of their own")


def test_a_convolutional_network_reads_digits():
    pytest.importorskip("sklearn")
    from examples import digits_cnn

    assert digits_cnn.main(["--short"]) > 0.9


def test_digits_are_logged_for_tensorboard(tmp_path):
    pytest.importorskip("sklearn")
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    from examples import digits_cnn

    seen, _ = digits_cnn.digits()
    model = digits_cnn.network()
    with digits_cnn.SummaryWriter(tmp_path) as writer:
        writer.add_graph(model, seen.tensors[0][:1])
        losses = digits_cnn.train(model, digits_cnn.TensorDataset(*seen[:64]), 2, writer)
    found = events.EventAccumulator(str(tmp_path), size_guidance={"histograms": 0}).Reload()
    assert [event.value for event in found.Scalars("loss")] == pytest.approx(losses)
    assert len(found.Histograms("0.weight")) == 2
    assert "Sequential/BatchNorm2d[1]/weight" in {node.name for node in found.Graph().node}


def test_so_does_one_of_pure_functions():
    pytest.importorskip("sklearn")
    from examples import functional_digits_cnn

    assert functional_digits_cnn.main(["--short"]) > 0.88


def test_a_recurrent_network_learns_letters(capsys):
    from examples import characters

    bits = characters.main(["--short"])
    text = capsys.readouterr().out
    guessing = float(text.partition("from frequencies alone: ")[2].partition(")")[0])
    assert bits < guessing - 0.25
    assert "\nAlice was " in text


def test_a_recurrent_network_adds_what_is_marked():
    from examples import adding_problem

    assert adding_problem.main(["--short"]) < 0.01


def test_a_transformer_reverses_sequences():
    from examples import reversing

    assert reversing.main(["--short"]) > 0.99


def test_an_agent_learns_to_balance():
    pytest.importorskip("gymnasium")
    from examples import cartpole

    totals = cartpole.main(["--short"])
    assert np.mean(totals[-20:]) > 2 * np.mean(totals[:20])


def test_the_returns_of_an_episode_are_discounted():
    pytest.importorskip("gymnasium")
    from examples import cartpole

    assert cartpole.returns([1.0, 2.0, 4.0], 0.5).tolist() == [3.0, 4.0, 4.0]


def test_a_generator_comes_closer_to_the_data(tmp_path):
    from examples import gan

    distances = gan.main(["--short"])
    assert distances[-1] < 0.75 * distances[0]


def test_the_distance_is_that_of_a_shift():
    from examples import gan

    x = gan.heaps(np.random.default_rng(0), 500)
    assert gan.distance(x, x[::-1]) == 0
    # a shift by d moves the shadow in direction a by |d cos a|, on average 2 d / pi
    assert gan.distance(x, x + [0.5, 0]) == pytest.approx(1 / np.pi, rel=1e-3)


@pytest.mark.parametrize("name", ["maml", "functional_maml"])
def test_one_step_adapts_to_a_new_sine(name):
    before, after = import_module(f"examples.{name}").main(["--short"])
    assert after < 0.9 * before


def test_parts_of_a_batch_give_the_gradient_of_the_whole():
    from examples import accumulation

    found = accumulation.main(["--short"])
    assert found["gradient"] < 1e-14
    assert found["weights"] < 1e-14
    assert found["norm after clipping"] == pytest.approx(0.5, abs=1e-5)
    assert found["last loss"] < found["first loss"]


def test_training_out_of_core_gives_what_training_in_memory_gives():
    for package in ("dask.array", "distributed", "zarr", "scipy"):
        pytest.importorskip(package)
    from examples import out_of_core

    found = out_of_core.main(["--short"])
    assert found["difference"] < 1e-9
    assert min(found["logistic regression"], found["network"]) > 0.8
