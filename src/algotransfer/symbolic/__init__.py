"""Steps of relaxation algorithms as expressions: learn them from answers, and prove them."""
