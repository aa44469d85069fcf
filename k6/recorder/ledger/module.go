package ledger

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/errext"
	"go.k6.io/k6/js/common"
	"go.k6.io/k6/js/modules"
)

func init() {
	modules.Register("k6/x/ledger", &module{started: time.Now(), writers: map[string]*Writer{}})
}

// module is one for all virtual users: they share the file.
type module struct {
	started time.Time
	mutex   sync.Mutex
	writers map[string]*Writer
}

// instance is one virtual user's.
type instance struct {
	module *module
	vu     modules.VU
}

// NewModuleInstance is called by k6 for each virtual user.
func (m *module) NewModuleInstance(vu modules.VU) modules.Instance {
	return &instance{module: m, vu: vu}
}

// Exports are what a script can import.
func (i *instance) Exports() modules.Exports {
	return modules.Exports{Named: map[string]any{"openLedger": i.open}}
}

// open gives the script its ledger; the first one makes the file anew.
func (i *instance) open(path string) *sobek.Object {
	runtime := i.vu.Runtime()
	writer, err := i.module.writer(path)
	if err != nil {
		common.Throw(runtime, fmt.Errorf("the ledger cannot be written: %w", err))
	}
	ledger := runtime.NewObject()
	functions := map[string]func(sobek.FunctionCall) sobek.Value{
		"begin": func(sobek.FunctionCall) sobek.Value {
			writer.begun.Add(1)
			return runtime.ToValue(i.module.nowMs())
		},
		"now":    func(sobek.FunctionCall) sobek.Value { return runtime.ToValue(i.module.nowMs()) },
		"record": func(call sobek.FunctionCall) sobek.Value { return i.record(writer, call) },
		"begun":  func(sobek.FunctionCall) sobek.Value { return runtime.ToValue(writer.begun.Load()) },
		"close": func(sobek.FunctionCall) sobek.Value {
			if err := writer.Close(); err != nil {
				common.Throw(runtime, fmt.Errorf("the ledger could not be written: %w", err))
			}
			return sobek.Undefined()
		},
	}
	for name, function := range functions {
		if err := ledger.Set(name, function); err != nil {
			common.Throw(runtime, err)
		}
	}
	return ledger
}

func (m *module) writer(path string) (*Writer, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if known := m.writers[path]; known != nil {
		return known, nil
	}
	made, err := Create(path)
	if err == nil {
		m.writers[path] = made
	}
	return made, err
}

// nowMs is the time since the epoch as it was when k6 started, and from there on by the clock that is never set: a
// host's clock that is set in mid-load moves no start and no duration.
func (m *module) nowMs() float64 {
	us := m.started.UnixMicro() + time.Since(m.started).Microseconds()
	return float64(us) / usPerMs
}

// record ends the test where a request cannot be recorded: a load without its ledger is worth nothing.
func (i *instance) record(writer *Writer, call sobek.FunctionCall) sobek.Value {
	record, err := recordOf(call)
	if err == nil {
		err = writer.Append(record)
	}
	if err != nil {
		reason := fmt.Sprintf("%s: the request could not be recorded: %v", errext.AbortTest, err)
		i.vu.Runtime().Interrupt(&errext.InterruptError{Reason: reason})
	}
	return sobek.Undefined()
}

// recordOf reads the call by itself: k6's way from any Go function to a JavaScript one costs more than the record.
func recordOf(call sobek.FunctionCall) (Record, error) {
	number := func(index int) float64 { return call.Argument(index).ToFloat() }
	var errs [7]error
	var record Record
	operation, err := whole("operation", number(0), math.MaxUint16)
	record.Operation, errs[0] = uint16(operation), err
	record.Sequence, errs[1] = whole("sequence", number(1), math.MaxUint32)
	record.StartUs, errs[2] = microseconds("start", number(2), math.MaxInt64)
	blocked, err := microseconds("blocked", number(3), math.MaxUint32)
	record.BlockedUs, errs[3] = uint32(blocked), err
	duration, err := microseconds("duration", number(4), math.MaxUint32)
	record.DurationUs, errs[4] = uint32(duration), err
	status, err := whole("status", number(5), math.MaxUint16)
	record.Status, errs[5] = uint16(status), err
	record.ErrorCode, errs[6] = whole("error code", number(6), math.MaxUint32)
	for _, err := range errs {
		if err != nil {
			return Record{}, err
		}
	}
	return record, nil
}
