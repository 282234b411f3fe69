"""Policy gradient: a network learns to balance gymnasium's pole on a cart.

    python examples/cartpole.py [--short] [--seed N]

REINFORCE with a learnt baseline: what an action led to, less what was expected of the state, weighs the
gradient of its log-probability. The task counts as solved when the mean return of 100 episodes in a row
reaches 195.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import numpy as np
from tqdm import tqdm

import funcgrad.torch as torch
from funcgrad.torch import nn
from funcgrad.torch.distributions import Categorical
from funcgrad.torch.nn import functional as F

SOLVED = 195


class Agent(nn.Module):
    """The scores of the two actions, and what the rest of the episode is expected to bring."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, 2))
        self.value = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, 1))


def episode(
    environment: Any, agent: Agent, seed: int | None
) -> tuple[torch.Tensor, torch.Tensor, list[float]]:
    """Play once: the states (n, 4), the actions (n,) and the rewards."""
    state, _ = environment.reset(seed=seed)
    states, actions, rewards, done = [], [], [], False
    while not done:
        with torch.no_grad():
            action = Categorical(logits=agent.policy(torch.tensor(state))).sample()
        states.append(state)
        actions.append(action.item())
        state, reward, fell, is_late, _ = environment.step(actions[-1])
        rewards.append(float(reward))
        done = fell or is_late
    return torch.tensor(np.array(states)), torch.tensor(actions), rewards


def returns(rewards: list[float], discount: float) -> torch.Tensor:
    """From each step on, the sum of what follows, discounted."""
    total, found = 0.0, []
    for reward in reversed(rewards):
        total = reward + discount * total
        found.append(total)
    return torch.tensor(found[::-1])


def loss_of(agent: Agent, states: torch.Tensor, actions: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The policy's loss, the baseline's, and a reward for staying undecided."""
    value = agent.value(states).squeeze(1)
    advantage = target - value.detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    choice = Categorical(logits=agent.policy(states))
    policy = -(choice.log_prob(actions) * advantage).mean()
    return policy + F.smooth_l1_loss(value, target) - 0.01 * choice.entropy().mean()


def train(agent: Agent, episodes: int, seed: int) -> list[float]:
    """Play and learn, episode by episode, until solved; the return of each."""
    environment = gymnasium.make("CartPole-v1")
    optimizer = torch.optim.Adam(agent.parameters(), lr=5e-3)
    totals: list[float] = []
    bar = tqdm(range(episodes), desc="balancing", unit="episode", disable=None)
    for number in bar:
        states, actions, rewards = episode(environment, agent, seed if number == 0 else None)
        loss = loss_of(agent, states, actions, returns(rewards, 0.99) / 10)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 1.0)
        optimizer.step()
        totals.append(sum(rewards))
        bar.set_postfix(mean=f"{np.mean(totals[-100:]):.1f}")
        if number >= 99 and np.mean(totals[-100:]) >= SOLVED:
            break
    bar.close()
    environment.close()
    return totals


def main(arguments: list[str] | None = None) -> list[float]:
    """Train, print, and return the returns of all episodes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="some episodes only")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    totals = train(Agent(), 50 if options.short else 400, options.seed)
    first, last = np.mean(totals[:20]), np.mean(totals[-100:])
    print(
        f"mean return of the first 20 episodes {first:.1f}, of the last 100 of {len(totals)}: {last:.1f} (solved: {SOLVED})"
    )
    return totals


if __name__ == "__main__":
    main()
