"""Reports: tables, claims and figures with our numbers beside the paper's."""
