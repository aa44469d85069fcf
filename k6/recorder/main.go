// k6 as it is, with a recorder of our own built in: scripts import it as k6/x/ledger.
package main

import (
	"os"
	"runtime/debug"

	"go.k6.io/k6/cmd"

	_ "writepath/recorder/ledger" // registers itself
)

// Go collects garbage whenever the heap has doubled. Most of k6's heap are its virtual users, so a collection takes tenths
// of a second of a processor; where k6 has only one, requests wait meanwhile, and the generator's pause is read as the
// server's. At twenty times the heap or at the limit, most loads end before the first collection.
const (
	gcPercent   = 2000
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
