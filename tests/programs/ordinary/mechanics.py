"""Bodies, robots, structures."""

import math

import numpy as np


def n_bodies(masses):
    """Energy that a careless integrator loses: four bodies, softened gravity, kick and drift."""
    n = len(masses)
    rng = np.random.default_rng(2)
    pos, vel = rng.standard_normal((n, 3)), np.zeros((n, 3))

    def acceleration():
        acc = np.zeros((n, 3))
        for i in range(n):
            for j in range(n):
                if i == j:
                    continue
                d = pos[j] - pos[i]
                acc[i] += masses[j] * d / (np.dot(d, d) + 0.1) ** 1.5
        return acc

    for _ in range(3):
        vel += 0.05 * acceleration()
        pos += 0.05 * vel
    kinetic = 0.5 * sum(m * np.sum(v**2) for m, v in zip(masses, vel))
    potential = 0.0
    for i in range(n):
        for j in range(i):
            potential -= masses[i] * masses[j] / math.sqrt(np.sum((pos[i] - pos[j]) ** 2) + 0.1)
    return kinetic + potential


class DoublePendulum:
    """Two rods, by the equations of Lagrange."""

    g = 9.81

    def __init__(self, l1, l2, m1=1.0, m2=0.5):
        self.l1, self.l2, self.m1, self.m2 = l1, l2, m1, m2

    def __call__(self, state):
        a, b, va, vb = state
        d = a - b
        m = self.m1 + self.m2
        den = self.m1 + self.m2 * math.sin(d) ** 2
        acc_a = -math.sin(d) * (self.m2 * self.l1 * va**2 * math.cos(d) + self.m2 * self.l2 * vb**2)
        acc_a -= self.g * (m * math.sin(a) - self.m2 * math.sin(b) * math.cos(d))
        acc_b = math.sin(d) * (m * self.l1 * va**2 + self.m2 * self.l2 * vb**2 * math.cos(d))
        acc_b += self.g * m * (math.sin(a) * math.cos(d) - math.sin(b))
        return np.array([va, vb, acc_a / (self.l1 * den), acc_b / (self.l2 * den)])


def double_pendulum(length):
    """Where the second rod points after a while: Runge and Kutta's method, the whole path kept."""
    f, h, steps = DoublePendulum(length, 0.8), 0.02, 8
    path = np.empty((steps + 1, 4))
    path[0] = [0.5, 1.0, 0.0, 0.0]
    for n in range(steps):
        y = path[n]
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        path[n + 1] = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return path[-1, 1] + path[:, 3].max()


def rotation(axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    if axis == "z":
        return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def robot_arm(lengths):
    """How near an arm of three joints comes to a target in three damped steps of inverse kinematics."""
    target, angles = np.array([0.8, 0.7, 0.3]), [0.1, 0.4, -0.3]

    def joints(q):
        points, frame = [np.zeros(3)], np.eye(3)
        for axis, angle, length in zip("zxz", q, lengths):
            frame = frame @ rotation(axis, angle)
            points.append(points[-1] + frame @ np.array([length, 0.2 * length, 0.0]))
        return points

    for _ in range(3):
        tip = joints(angles)[-1]
        jac = np.zeros((3, 3))
        for j in range(3):
            moved = list(angles)
            moved[j] += 1e-2
            jac[:, j] = (joints(moved)[-1] - tip) / 1e-2
        step = np.linalg.solve(jac.T @ jac + 0.1 * np.eye(3), jac.T @ (target - tip))
        angles = [float(a) + s for a, s in zip(angles, step)]
    return np.linalg.norm(joints(angles)[-1] - target)


class Gas:
    """Lennard and Jones' potential in a periodic box."""

    def __init__(self, n, box, seed=0):
        self.box = box
        self.x = (np.array([[i, j] for i in range(n) for j in range(n)]) + 0.3) * 1.2
        self.v = np.random.RandomState(seed).normal(0, 0.3, self.x.shape)
        self.v -= self.v.mean(axis=0)

    def forces(self):
        n = len(self.x)
        force, energy = np.zeros_like(self.x), 0.0
        for i in range(n - 1):
            d = self.x[i] - self.x[i + 1 :]
            d -= self.box * np.round(d / self.box)
            r2 = np.sum(d**2, axis=1)
            inside = r2 < 4.0
            d, r6 = d[inside], 1.0 / r2[inside] ** 3
            pull = (24 * (2 * r6**2 - r6) / r2[inside])[:, None] * d
            force[i] += pull.sum(axis=0)
            force[i + 1 :][inside] -= pull
            energy += np.sum(4 * (r6**2 - r6))
        return force, energy


def molecular_dynamics(box):
    """Temperature and potential of nine atoms after three steps of Verlet."""
    gas, dt = Gas(3, box), 0.005
    force, energy = gas.forces()
    for _ in range(3):
        gas.v += 0.5 * dt * force
        gas.x = (gas.x + dt * gas.v) % gas.box
        force, energy = gas.forces()
        gas.v += 0.5 * dt * force
    return energy + 0.5 * np.sum(gas.v**2)


def topology(density):
    """Compliance of a cantilever of four by two square elements, with stiffness penalised by the third power."""
    nx, ny, nu = 4, 2, 0.3
    k = [1 / 2 - nu / 6, 1 / 8 + nu / 8, -1 / 4 - nu / 12, -1 / 8 + 3 * nu / 8]
    k += [-1 / 4 + nu / 12, -1 / 8 - nu / 8, nu / 6, 1 / 8 - 3 * nu / 8]
    order = ["01234567", "10765432", "27054361", "36507214", "45670123", "54321076", "63214705", "72143650"]
    element = np.array([[k[int(c)] for c in row] for row in order]) / (1 - nu**2)
    size = 2 * (nx + 1) * (ny + 1)
    stiffness, load = np.zeros((size, size)), np.zeros(size)
    for ex in range(nx):
        for ey in range(ny):
            a = (ny + 1) * ex + ey
            b = (ny + 1) * (ex + 1) + ey
            dofs = np.array([2 * a, 2 * a + 1, 2 * b, 2 * b + 1, 2 * b + 2, 2 * b + 3, 2 * a + 2, 2 * a + 3])
            rho = density[ey + ny * ex]
            stiffness[np.ix_(dofs, dofs)] += (1e-3 + rho**3) * element
    load[-1] = -1.0
    free = np.setdiff1d(np.arange(size), np.arange(2 * (ny + 1)))
    u = np.zeros(size)
    u[free] = np.linalg.solve(stiffness[np.ix_(free, free)], load[free])
    return load @ u


def riccati(weights):
    """Cost of a regulated cart with a pole, from the fixed point of Riccati's equation."""
    a = np.array([[1.0, 0.1, 0.0, 0.0], [0.0, 1.0, -0.1, 0.0], [0.0, 0.0, 1.0, 0.1], [0.0, 0.0, 1.1, 1.0]])
    b = np.array([0.0, 0.1, 0.0, -0.1]).reshape(4, 1)
    q, r = np.diag(weights[:4]), weights[4:5].reshape(1, 1)
    p = q.copy()
    for _ in range(30):
        gain = np.linalg.inv(r + b.T @ p @ b) @ (b.T @ p @ a)
        p = q + a.T @ p @ (a - b @ gain)
    x = np.array([0.5, 0.0, 0.1, 0.0])
    cost = 0
    for _ in range(5):
        u = -gain @ x
        cost += x @ q @ x + float(r[0, 0]) * float(u[0]) ** 2
        x = a @ x + b @ u
    return cost
