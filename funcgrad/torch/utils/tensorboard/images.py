"""Images of any layout as PNG, figures of Matplotlib, and sound."""

from __future__ import annotations

import io
import wave
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad.torch.utils.tensorboard.protos import as_array, protos, summary


def grid(images: np.ndarray, columns: int = 8) -> np.ndarray:
    """One image (H, W, C) of the images (N, H, W, C), in rows of `columns`; what is left over stays black."""
    n, h, w, c = images.shape
    across = min(n, columns)
    down = -(-n // across)
    full = np.zeros((across * down, h, w, c), images.dtype)
    full[:n] = images
    return full.reshape(down, across, h, w, c).swapaxes(1, 2).reshape(down * h, across * w, c)


def as_pixels(who: str, x: Any, layout: str) -> np.ndarray:
    """The image (H, W, C) of bytes of an array whose axes `layout` names by letters, such as 'NCHW'."""
    array, letters = as_array(x), layout.upper()
    if len(set(letters)) != len(letters) or not {"H", "W"} <= set(letters) <= set("NCHW"):
        raise ValueError(
            f"{who}: dataformats names each axis by one of N, C, H, W, such as 'CHW'; found {layout!r}"
        )
    if array.ndim != len(letters):
        raise ValueError(
            f"{who}: an array of shape {array.shape} is not {layout}: give dataformats, such as 'HW' or 'NHWC'"
        )
    for letter in sorted(set("NC") - set(letters)):
        array, letters = array[None], letter + letters
    images = array.transpose([letters.index(letter) for letter in "NHWC"])
    if images.shape[3] not in (1, 3, 4):
        raise ValueError(
            f"{who}: an image has 1, 3 or 4 channels; an array of shape {array.shape} as {layout} has {images.shape[3]}"
        )
    return _as_bytes(who, grid(images))


def _as_bytes(who: str, x: np.ndarray) -> np.ndarray:
    """Floats in [0, 1] and bools are scaled to bytes (NaN is black); bytes are left alone."""
    if x.dtype == np.uint8:
        return x
    if x.dtype.kind not in "fb":
        raise ValueError(f"{who}: pixels are uint8 in [0, 255] or floating in [0, 1], not {x.dtype}")
    return np.clip(np.nan_to_num(x.astype(np.float64)) * 255, 0, 255).astype(np.uint8)


def image(tag: str, pixels: np.ndarray) -> Any:
    """An image (H, W, C) of bytes as a summary."""
    height, width, channels = pixels.shape
    made = protos().Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=png(pixels)
    )
    return summary(tag, image=made)


def png(pixels: np.ndarray) -> bytes:
    """A file of the format PNG, by Pillow, which the tensorboard package brings along."""
    file = io.BytesIO()
    import_module("PIL.Image").fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels).save(
        file, format="PNG"
    )
    return file.getvalue()


def figure_pixels(figure: Any, close: bool) -> np.ndarray:
    """What a figure of Matplotlib (or each of a list of them) shows, as (H, W, 4) or (N, H, W, 4)."""
    if isinstance(figure, (list, tuple)):
        return np.stack([figure_pixels(each, close) for each in figure])
    canvas = import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.array(canvas.buffer_rgba())
    if close:
        import_module("matplotlib.pyplot").close(figure)
    return pixels


def audio(tag: str, x: Any, sample_rate: int) -> Any:
    """Sound in [-1, 1], of shape (samples,) or (1, samples), as a WAV of 16 bits."""
    samples = as_array(x).squeeze()
    if samples.ndim != 1:
        raise ValueError(f"add_audio: one channel of samples, found an array of shape {samples.shape}")
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(sample_rate)
        out.writeframes((np.clip(samples, -1, 1) * (2**15 - 1)).astype("<i2").tobytes())
    made = protos().Summary.Audio(
        sample_rate=sample_rate,
        num_channels=1,
        length_frames=len(samples),
        encoded_audio_string=file.getvalue(),
        content_type="audio/wav",
    )
    return summary(tag, audio=made)
