"""Words of `redask audit` beside list, show, accept and export: what seals, proves, erases."""
