"""torch.utils.data: datasets, samplers, and the DataLoader that makes batches of them.

datasets.py   what has items      samplers.py   in which order      collate.py   items into batches
loader.py     DataLoader          workers.py    threads that fetch batches ahead
"""

from funcgrad.torch.public import gather
from funcgrad.torch.utils.data import collate, datasets, loader, samplers, workers

_NAMES = {
    collate: "default_collate default_convert",
    datasets: (
        "ChainDataset ConcatDataset Dataset IterableDataset StackDataset Subset TensorDataset random_split"
    ),
    loader: "DataLoader",
    samplers: (
        "BatchSampler RandomSampler Sampler SequentialSampler SubsetRandomSampler WeightedRandomSampler"
    ),
    workers: "WorkerInfo get_worker_info",
}
gather(globals(), _NAMES)
