package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/modulestest"
)

// users gives virtual users of one k6, each with `openLedger` as a script has it.
func users(t *testing.T, count int) []*sobek.Runtime {
	t.Helper()
	shared := &module{started: time.Now(), writers: map[string]*Writer{}}
	var made []*sobek.Runtime
	for range count {
		runtime := modulestest.NewRuntime(t)
		exports := shared.NewModuleInstance(runtime.VU).Exports()
		if err := runtime.VU.Runtime().Set("openLedger", exports.Named["openLedger"]); err != nil {
			t.Fatal(err)
		}
		made = append(made, runtime.VU.Runtime())
	}
	return made
}

func run(t *testing.T, user *sobek.Runtime, script string) sobek.Value {
	t.Helper()
	value, err := user.RunString(script)
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return value
}

func TestVirtualUsersShareTheLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.rec")
	both := users(t, 2)
	for _, user := range both {
		run(t, user, `const ledger = openLedger("`+path+`")`)
	}
	run(t, both[0], `ledger.record(0, 0, ledger.begin(), 0.25, 12.3456, 201, 0)`)
	run(t, both[1], `ledger.record(1, 1, 1795231568103.25, 0, 15001, 0, 1050)`)
	run(t, both[0], `ledger.begin()`) // and never ended
	run(t, both[1], `ledger.close()`)
	if begun := run(t, both[1], `ledger.begun()`).ToInteger(); begun != 2 {
		t.Errorf("%d begun", begun)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := Record{StartUs: 1795231568103250, Operation: 1, Sequence: 1, DurationUs: 15001000, ErrorCode: 1050}.appendTo(nil)
	if len(written) != headerBytes+2*recordBytes || string(written[headerBytes+recordBytes:]) != string(want) {
		t.Errorf("%x", written)
	}
}

func TestNowIsTheTimeOfDayAndNeverGoesBack(t *testing.T) {
	user := users(t, 1)[0]
	run(t, user, `const ledger = openLedger("`+filepath.Join(t.TempDir(), "ledger.rec")+`")`)
	before, now, after := time.Now().Add(-time.Minute), run(t, user, `ledger.begin()`).ToFloat(), time.Now().Add(time.Minute)
	if now < float64(before.UnixMilli()) || now > float64(after.UnixMilli()) {
		t.Errorf("%v ms", now)
	}
	if run(t, user, `let last = 0, back = 0;
		for (let i = 0; i < 10000; i++) { const now = ledger.now(); if (now < last) back++; last = now; }
		back`).ToInteger() != 0 {
		t.Error("it went back")
	}
}

func TestWhatCannotBeRecordedEndsTheTest(t *testing.T) {
	for _, call := range []string{
		`ledger.record(0, 0, 1000, 0, -1, 201, 0)`,
		`ledger.record(0, 0, 1000, 0, undefined, 201, 0)`,
		`ledger.record(0, 0.5, 1000, 0, 1, 201, 0)`,
		`ledger.record(65536, 0, 1000, 0, 1, 201, 0)`,
		`ledger.record(0)`,
		`ledger.close(); ledger.record(0, 0, 1000, 0, 1, 201, 0)`,
	} {
		user := users(t, 1)[0]
		run(t, user, `const ledger = openLedger("`+filepath.Join(t.TempDir(), "ledger.rec")+`")`)
		_, err := user.RunString(call + `; for (let i = 0; i < 1e6; i++) {}`) // what would go on is interrupted
		if err == nil || !strings.Contains(err.Error(), "test aborted: the request could not be recorded") {
			t.Errorf("%s: %v", call, err)
		}
	}
}

func TestAPlaceThatCannotBeWrittenIsNamedBeforeTheLoad(t *testing.T) {
	_, err := users(t, 1)[0].RunString(`openLedger("/nowhere/ledger.rec")`)
	if err == nil || !strings.Contains(err.Error(), "/nowhere/ledger.rec") {
		t.Errorf("%v", err)
	}
}
