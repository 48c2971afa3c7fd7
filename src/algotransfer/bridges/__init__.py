"""Conversion from and to dm-clrs, and to PyTorch; each library is imported on first use."""
