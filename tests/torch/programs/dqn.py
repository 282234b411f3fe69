"""Deep Q-learning from a memory of transitions, with a target network that follows slowly."""

import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class DQN(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1, self.layer2 = nn.Linear(3, 16), nn.Linear(16, 2)

    def forward(self, x):
        return self.layer2(F.relu(self.layer1(x)))


torch.manual_seed(0)
random.seed(0)
policy, target = DQN(), DQN()
target.load_state_dict(policy.state_dict())
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-2, amsgrad=True)
memory = deque(maxlen=200)
state = torch.rand(1, 3)
for step in range(60):
    with torch.no_grad():
        action = (
            policy(state).max(1).indices.view(1, 1)
            if random.random() > 0.3
            else torch.tensor([[random.randrange(2)]])
        )
    following = (state * 0.9 + 0.1 * action).clamp(0, 1) if step % 10 else None
    memory.append(
        Transition(state, action, following, torch.tensor([state.sum().item() * (1 - 2 * action.item())]))
    )
    state = following if following is not None else torch.rand(1, 3)
    if len(memory) < 16:
        continue
    batch = Transition(*zip(*random.sample(memory, 16)))
    mask = torch.tensor(tuple(map(lambda s: s is not None, batch.next_state)), dtype=torch.bool)
    chosen = policy(torch.cat(batch.state)).gather(1, torch.cat(batch.action))
    values = torch.zeros(16)
    with torch.no_grad():
        values[mask] = target(torch.cat([s for s in batch.next_state if s is not None])).max(1).values
    loss = nn.SmoothL1Loss()(chosen, (values * 0.9 + torch.cat(batch.reward)).unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy.parameters(), 100)
    optimizer.step()
    new, old = policy.state_dict(), target.state_dict()
    for key in new:
        old[key] = new[key] * 0.05 + old[key] * 0.95
    target.load_state_dict(old)
    if step % 15 == 0:
        print(step, loss.item())
