//go:build go1.22

package main

import _ "unsafe"

//go:linkname random runtime.cheaprand
func random() uint32
