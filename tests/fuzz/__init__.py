"""Random programs: what plain NumPy computes, the transforms have to compute, too."""
