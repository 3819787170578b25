"""What only the chapters need: data sets, the protocols of the papers, claims and figures. The engine is `dpreg`."""
