// Functions without a body, as in link.go, need an assembly file beside them.
