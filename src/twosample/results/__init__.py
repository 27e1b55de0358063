"""The frozen records that questions return, and what is computed from them."""
