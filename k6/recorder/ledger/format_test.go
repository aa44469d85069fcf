package ledger

import (
	"encoding/hex"
	"math"
	"testing"
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

func TestATimeIsRoundedToTheNearestMicrosecond(t *testing.T) {
	for ms, want := range map[float64]uint64{0: 0, 0.0004: 0, 0.0005: 1, 12.3456: 12346, 4294967.295: math.MaxUint32} {
		if got, err := microseconds("duration", ms, math.MaxUint32); err != nil || got != want {
			t.Errorf("%v ms: %v, %v", ms, got, err)
		}
	}
}

func TestWhatNoFieldCanHoldIsAnError(t *testing.T) {
	for _, ms := range []float64{-0.001, 4294967.296, math.NaN(), math.Inf(1)} {
		if got, err := microseconds("duration", ms, math.MaxUint32); err == nil {
			t.Errorf("%v ms became %v", ms, got)
		}
	}
	for _, number := range []float64{-1, 0.5, math.MaxUint32 + 1, math.NaN(), math.Inf(1)} {
		if got, err := whole("sequence", number, math.MaxUint32); err == nil {
			t.Errorf("%v became %v", number, got)
		}
	}
	if got, err := whole("status", math.MaxUint16+1, math.MaxUint16); err == nil {
		t.Errorf("a status became %v", got)
	}
}
