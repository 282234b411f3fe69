"""Fluids and particles."""

import math

import numpy as np


def lattice_boltzmann(viscosity):
    """Drag of a wall in a channel: D2Q9, a body force, half-way bounce back at the walls."""
    nx, ny = 5, 4
    cx = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
    cy = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    w = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    opposite = [0, 3, 4, 1, 2, 7, 8, 5, 6]
    wall = np.zeros((nx, ny), dtype=bool)
    wall[:, 0] = True
    omega = 1.0 / (3.0 * viscosity + 0.5)
    f = np.ones((9, nx, ny)) * w[:, None, None]
    for _ in range(6):
        for i in range(9):
            f[i] = np.roll(np.roll(f[i], cx[i], axis=0), cy[i], axis=1)
        bounced = f[:, wall]
        rho = np.sum(f, axis=0)
        ux = np.sum(f * cx[:, None, None], axis=0) / rho + 0.01
        uy = np.sum(f * cy[:, None, None], axis=0) / rho
        feq = np.zeros(f.shape)
        for i in range(9):
            cu = 3 * (cx[i] * ux + cy[i] * uy)
            feq[i] = rho * w[i] * (1 + cu + 0.5 * cu**2 - 1.5 * (ux**2 + uy**2))
        f += omega * (feq - f)
        f[:, wall] = bounced[opposite]
    return np.sum(f[1] - f[3]) + 10 * ux[2, 2]


def finite_volume(pressure):
    """Sod's shock tube: Rusanov's flux, explicit Euler; how much mass has passed the middle."""
    n, gamma, dt = 12, 1.4, 0.02
    x = (np.arange(n) + 0.5) / n
    rho = 0.125 + 0.875 * (x < 0.5)
    p = np.where(x < 0.5, pressure, 0.1)
    u = np.zeros(n)
    q = np.array([rho, rho * u, p / (gamma - 1) + 0.5 * rho * u**2])
    for _ in range(5):
        rho, u = q[0], q[1] / q[0]
        p = (gamma - 1) * (q[2] - 0.5 * rho * u**2)
        flux = np.array([q[1], q[1] * u + p, u * (q[2] + p)])
        speed = np.abs(u) + np.sqrt(gamma * p / rho)
        a = np.maximum(speed[1:], speed[:-1])
        face = 0.5 * (flux[:, 1:] + flux[:, :-1]) - 0.5 * a * (q[:, 1:] - q[:, :-1])
        q[:, 1:-1] -= dt * n * (face[:, 1:] - face[:, :-1])
        q[:, 0], q[:, -1] = q[:, 1], q[:, -2]
    return np.sum(q[0, n // 2 :]) / n


def spectral_navier_stokes(viscosity):
    """Enstrophy of decaying vorticity on a torus: pseudo-spectral, integrating factor, two thirds rule."""
    n, dt = 8, 0.1
    k = np.fft.fftfreq(n) * n
    kx, ky = np.meshgrid(k, k, indexing="ij")
    k2 = kx**2 + ky**2
    inverse = np.zeros((n, n))
    inverse[k2 > 0] = 1.0 / k2[k2 > 0]
    keep = (np.abs(kx) < n / 3) * (np.abs(ky) < n / 3)
    x = 2 * math.pi * np.arange(n) / n
    w = np.fft.fft2(np.sin(x)[:, None] * np.cos(2 * x) + np.cos(3 * x)[:, None])
    decay = np.exp(-viscosity * k2 * dt)
    for _ in range(4):
        psi = w * inverse
        u = np.real(np.fft.ifft2(1j * ky * psi))
        v = np.real(np.fft.ifft2(-1j * kx * psi))
        wx = np.real(np.fft.ifft2(1j * kx * w))
        wy = np.real(np.fft.ifft2(1j * ky * w))
        w = decay * (w - dt * keep * np.fft.fft2(u * wx + v * wy))
    return 0.5 * np.mean(np.real(np.fft.ifft2(w)) ** 2)


class Fluid:
    """Smoothed particles on a line."""

    def __init__(self, positions, h=0.4, stiffness=2.0):
        self.x = [float(p) for p in positions]
        self.v = [0.0] * len(self.x)
        self.h, self.stiffness = h, stiffness

    def kernel(self, r):
        q = abs(r) / self.h
        return (1 - q) ** 3 / self.h if q < 1 else 0.0

    def slope(self, r):
        q = abs(r) / self.h
        return -3 * (1 - q) ** 2 / self.h**2 * math.copysign(1, r) if q < 1 else 0.0

    def step(self, dt):
        rho = [sum(self.kernel(a - b) for b in self.x) for a in self.x]
        p = [self.stiffness * (r - 1.0) for r in rho]
        for i, a in enumerate(self.x):
            force = 0.0
            for j, b in enumerate(self.x):
                if i != j:
                    force -= (p[i] / rho[i] ** 2 + p[j] / rho[j] ** 2) * self.slope(a - b)
            self.v[i] += dt * force
        self.x = [a + dt * v for a, v in zip(self.x, self.v)]


def smoothed_particles(positions):
    """Kinetic energy of a few particles that are let go."""
    fluid = Fluid(positions)
    for _ in range(4):
        fluid.step(0.02)
    return sum(0.5 * v**2 for v in fluid.v)


def particle_in_cell(speed):
    """Field energy of two streams of electrons: linear weighting, Poisson's equation by FFT, leapfrog."""
    cells, count, dt = 8, 12, 0.1
    rng = np.random.default_rng(1)
    x = np.linspace(0, 1, count, endpoint=False) + 0.01 * rng.standard_normal(count)
    v = speed * np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
    k = 2 * np.pi * np.fft.rfftfreq(cells, 1 / cells)
    energy = 0.0
    for _ in range(4):
        s = (x % 1.0) * cells
        left = np.floor(s).astype(int)
        part = s - left
        density = np.zeros(cells)
        np.add.at(density, left % cells, 1 - part)
        np.add.at(density, (left + 1) % cells, part)
        charge = np.fft.rfft(density * cells / count - 1.0)
        field_k = np.zeros(len(k), dtype=complex)
        field_k[1:] = -1j * charge[1:] / k[1:]
        field = np.fft.irfft(field_k, cells)
        v = v - dt * ((1 - part) * field[left % cells] + part * field[(left + 1) % cells])
        x = x + dt * v
        energy += np.sum(field**2) / cells
    return energy
