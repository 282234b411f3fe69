"""add_embedding: points with labels and pictures, in the files that TensorBoard's projector reads."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from funcgrad.torch.utils.tensorboard.images import as_pixels, grid, png
from funcgrad.torch.utils.tensorboard.protos import as_array

_CONFIG = "projector_config.pbtxt"


def write_embedding(
    log_dir: Path,
    folder: str,
    tag: str,
    points: Any,
    metadata: Any,
    header: Sequence[str] | None,
    images: Any,
) -> None:
    """Write rows of `points` (n, d) with metadata and images into `folder`, and enter them in its config."""
    table = as_array(points)
    if table.ndim != 2:
        raise ValueError(f"add_embedding: points are the rows of a matrix, found shape {table.shape}")
    for name, given in (("metadata", metadata), ("label_img", images)):
        if given is not None and len(given) != len(table):
            raise ValueError(
                f"add_embedding: one row of {name} for each of the {len(table)} points, found {len(given)}"
            )
    place = log_dir / folder
    place.mkdir(parents=True, exist_ok=True)
    np.savetxt(place / "tensors.tsv", table, delimiter="\t", fmt="%.9g")
    types = import_module("tensorboard.plugins.projector.projector_config_pb2")
    entry = types.EmbeddingInfo(tensor_name=tag, tensor_path=f"{folder}/tensors.tsv")
    if metadata is not None:
        rows = [list(header), *metadata] if header else metadata
        (place / "metadata.tsv").write_text("".join(_line(row) for row in rows), encoding="utf-8")
        entry.metadata_path = f"{folder}/metadata.tsv"
    if images is not None:
        (place / "sprite.png").write_bytes(_sprite(images))
        entry.sprite.image_path = f"{folder}/sprite.png"
        entry.sprite.single_image_dim.extend([images.shape[3], images.shape[2]])
    _enter(log_dir / _CONFIG, types.ProjectorConfig(), entry)


def _line(row: Any) -> str:
    cells = row if isinstance(row, (list, tuple)) else [row]
    return "\t".join(" ".join(str(cell).split()) for cell in cells) + "\n"


def _sprite(images: Any) -> bytes:
    """The images (N, C, H, W) in a square: as many in each row as there are rows."""
    each = np.stack([as_pixels("add_embedding", image, "CHW") for image in as_array(images)])
    side = int(np.ceil(np.sqrt(len(each))))
    full = np.zeros((side * side, *each.shape[1:]), np.uint8)
    full[: len(each)] = each
    return png(grid(full, side))


def _enter(path: Path, config: Any, entry: Any) -> None:
    """Add an entry to those that the configuration has."""
    text_format = import_module("google.protobuf.text_format")
    if path.exists():
        text_format.Parse(path.read_text(encoding="utf-8"), config)
    kept = [known for known in config.embeddings if known.tensor_path != entry.tensor_path]
    del config.embeddings[:]
    config.embeddings.extend([*kept, entry])
    path.write_text(text_format.MessageToString(config), encoding="utf-8")
