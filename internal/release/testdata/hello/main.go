// Hello stands for memoryd in the test, which would take minutes to build.
package main

import "fmt"

var release string // set by the linker, as in cmd/memoryd

func main() { fmt.Println("memoryd", release) }
