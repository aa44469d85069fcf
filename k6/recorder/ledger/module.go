package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/common"
	"go.k6.io/k6/js/modules"
)

func init() {
	modules.Register("k6/x/ledger", newModule())
}

// module is one for all virtual users: they share files and connections.
type module struct {
	started time.Time
	mutex   sync.Mutex
	writers map[string]*Writer
	clients map[string]*client
	entries map[string][]any
}

func newModule() *module {
	return &module{
		started: time.Now(), writers: map[string]*Writer{}, clients: map[string]*client{}, entries: map[string][]any{},
	}
}

// instance is one virtual user's.
type instance struct {
	module *module
	vu     modules.VU
}

// load is what a virtual user sends, and where it is recorded.
type load struct {
	*instance
	writer   *Writer
	requests *Writer // of sessions; nil: there are none
	client   *client
	timeout  time.Duration // of a request
}

// NewModuleInstance is called by k6 for each virtual user.
func (m *module) NewModuleInstance(vu modules.VU) modules.Instance {
	return &instance{module: m, vu: vu}
}

// Exports are what a script can import. k6 calls this each time that a script mentions one of them.
func (i *instance) Exports() modules.Exports {
	return modules.Exports{Named: map[string]any{"openLedger": i.openLedger, "openEntries": i.openEntries}}
}

// openLedger gives the script the ledger of what it sends to the target; the first one makes the file. requestsPath: of
// the requests of sessions; "": no sessions are sent.
func (i *instance) openLedger(path, target string, timeoutSeconds float64, requestsPath string) *sobek.Object {
	runtime := i.vu.Runtime()
	writer := i.openFile(path)
	client, _ := shared(i.module, i.module.clients, strings.TrimPrefix(target, "http://"), newClient)
	timeout := time.Duration(timeoutSeconds * float64(time.Second))
	load := &load{instance: i, writer: writer, client: client, timeout: timeout}
	if requestsPath != "" {
		load.requests = i.openFile(requestsPath)
	}
	ledger := runtime.NewObject()
	functions := map[string]func(sobek.FunctionCall) sobek.Value{
		"sequence": func(sobek.FunctionCall) sobek.Value { return runtime.ToValue(load.number()) },
		"write":    load.write,
		"search":   load.search,
		"read":     load.read,
		"session":  load.session,
		"meet": func(call sobek.FunctionCall) sobek.Value {
			if processes := call.Argument(0).ToInteger(); processes > 1 {
				if err := writer.meet(i.vu.Context(), processes); err != nil {
					common.Throw(runtime, fmt.Errorf("the other load generators did not start: %w", err))
				}
			}
			return sobek.Undefined()
		},
		"begun": func(sobek.FunctionCall) sobek.Value { return runtime.ToValue(writer.begun.Load()) },
		"close": func(sobek.FunctionCall) sobek.Value {
			if err := load.close(); err != nil {
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

func (i *instance) openFile(path string) *Writer {
	writer, err := shared(i.module, i.module.writers, path, Create)
	if err != nil {
		common.Throw(i.vu.Runtime(), fmt.Errorf("the ledger cannot be written: %w", err))
	}
	return writer
}

// openEntries gives the script a function: the entry for a sequence number, of a file's JSON array, which repeats.
func (i *instance) openEntries(path string) func(sobek.FunctionCall) sobek.Value {
	entries, err := shared(i.module, i.module.entries, path, readEntries)
	if err != nil {
		common.Throw(i.vu.Runtime(), fmt.Errorf("what is sent cannot be read: %s: %w", path, err))
	}
	return func(call sobek.FunctionCall) sobek.Value {
		return i.vu.Runtime().ToValue(entries[call.Argument(0).ToInteger()%int64(len(entries))])
	}
}

func readEntries(path string) (entries []any, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &entries)
	}
	if err == nil && len(entries) == 0 {
		err = errors.New("an empty array")
	}
	return entries, err
}

// shared is what was opened by that name: once for all virtual users.
func shared[T any](m *module, known map[string]T, name string, open func(string) (T, error)) (T, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if found, ok := known[name]; ok {
		return found, nil
	}
	found, err := open(name)
	if err == nil {
		known[name] = found
	}
	return found, err
}

// number is the iteration's in the load, from 0.
func (l *load) number() uint32 {
	return uint32(l.vu.State().GetScenarioGlobalVUIter())
}

func (l *load) close() error {
	if l.requests == nil {
		return l.writer.Close()
	}
	return errors.Join(l.writer.Close(), l.requests.Close())
}

// epochUs is the time since the epoch as it was when k6 started, and from there on by the clock that is never set: a
// host's clock that is set in mid-load moves no start and no duration.
func (m *module) epochUs(now time.Time) uint64 {
	return uint64(m.started.UnixMicro() + now.Sub(m.started).Microseconds())
}
