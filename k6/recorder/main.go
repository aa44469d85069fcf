// k6 as it is, with a recorder of our own built in: scripts import it as k6/x/ledger.
package main

import (
	"os"
	"runtime/debug"

	"go.k6.io/k6/cmd"

	_ "writepath/recorder/ledger" // registers itself
)

// Go collects garbage whenever the heap has doubled. k6's heap is small and each request leaves garbage, so that is
// often, and each time a whole core is busy for a moment in which answers wait to be noticed: the generator's pauses
// are then read as the server's. Collecting at five times the heap makes them rare; the limit bounds what that costs.
const (
	gcPercent   = 400
	memoryLimit = 2 << 30
)

func main() {
	tuneGC()
	cmd.Execute()
}

// tuneGC leaves alone what the environment says.
func tuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
