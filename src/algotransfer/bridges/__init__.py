"""Conversion from dm-clrs and to PyTorch Geometric; each library is imported on first use."""
