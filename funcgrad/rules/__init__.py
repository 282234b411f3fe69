from funcgrad.core import indexing
from funcgrad.core.catalogue import CATALOGUE
from funcgrad.core.lanes import make_lane
from funcgrad.core.methods import install_lanes
from funcgrad.core.ufunc import Ufunc
from funcgrad.rules import choices, elementwise, joining, plain, products, reductions, shapes
install_lanes({f: make_lane(p) for f, p in CATALOGUE.items() if isinstance(p, Ufunc)})
