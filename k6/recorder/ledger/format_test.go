package ledger

import (
	"encoding/hex"
	"math"
	"testing"
	"time"
)

// The same bytes stand in scripts/tests/test_ledger.py.
const (
	headerHex = "777269746570617468206c656467657202000000200000000000000000000000"
	recordHex = "5806e8ebc060060007000000fa0000003a300000c900010000000000c110bfa7"
)

func TestTheLayoutIsTheOneThatPythonReads(t *testing.T) {
	if got := hex.EncodeToString(header()); got != headerHex {
		t.Errorf("header %s", got)
	}
	record := Record{StartUs: 1795231568103000, Sequence: 7, BlockedUs: 250, DurationUs: 12346, Status: 201, Operation: 1}
	if got := hex.EncodeToString(record.appendTo(nil)); got != recordHex {
		t.Errorf("record %s", got)
	}
}

func TestADurationThatNoFieldCanHoldIsTheNearestThatOneCan(t *testing.T) {
	for elapsed, want := range map[time.Duration]uint32{
		-time.Second: 0, 999: 0, 1000: 1, 12345678: 12345, 2 * time.Hour: math.MaxUint32,
	} {
		if got := microseconds(elapsed); got != want {
			t.Errorf("%v: %v", elapsed, got)
		}
	}
}
