"""Random whole scenarios, and what must hold for each of them."""
