"""To and from other libraries of the field; each module loads its library when it is used."""
