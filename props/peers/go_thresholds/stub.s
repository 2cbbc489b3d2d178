// Functions without a body, as in main.go, need an assembly file beside them.
