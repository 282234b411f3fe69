"""torch.utils.tensorboard: `SummaryWriter` writes event files that TensorBoard shows. It needs the extra
`tensorboard`.

    writer.py     SummaryWriter: files, steps, times      summaries.py  numbers, histograms, text, curves
    protos.py     TensorBoard's message types             images.py     images, figures and sound
    graph.py      add_graph: the graph of a model         projector.py  add_embedding
"""

from funcgrad.torch.utils.tensorboard.writer import SummaryWriter

__all__ = ["SummaryWriter"]
