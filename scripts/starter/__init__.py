"""How the rows of the starter suite are made: references, inputs and the texts around them."""
