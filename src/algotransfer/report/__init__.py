"""Results for the eye: figures and tables beside the paper's."""
