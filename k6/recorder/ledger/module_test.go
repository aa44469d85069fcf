package ledger

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/modulestest"
	"go.k6.io/k6/lib"
)

// user is a virtual user with `ledger` as a script has it.
type user struct {
	*modulestest.Runtime
	t    *testing.T
	path string // of the ledger; that of the requests of sessions has a suffix
}

const requestsSuffix = ".requests"

// users of one k6, in the iteration 7 of a load to that server.
func users(t *testing.T, count int, url string) []user {
	t.Helper()
	shared, path := newModule(), filepath.Join(t.TempDir(), "ledger.rec")
	made := make([]user, count)
	for index := range made {
		made[index] = user{Runtime: modulestest.NewRuntime(t), t: t, path: path}
		runtime := made[index].VU.Runtime()
		for name, value := range shared.NewModuleInstance(made[index].VU).Exports().Named {
			if err := runtime.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		made[index].run(fmt.Sprintf("const ledger = openLedger(%q, %q, 15, %q)", path, url, path+requestsSuffix))
		made[index].MoveToVUContext(&lib.State{GetScenarioGlobalVUIter: func() uint64 { return 7 }})
	}
	return made
}

func (u user) run(script string) sobek.Value {
	u.t.Helper()
	value, err := u.VU.Runtime().RunString(script)
	if err != nil {
		u.t.Fatalf("%s: %v", script, err)
	}
	return value
}

// records are what the ledger has, once it is closed.
func (u user) records() []Record {
	u.t.Helper()
	return u.recordsIn(u.path)
}

func (u user) recordsIn(path string) []Record {
	u.t.Helper()
	u.run("ledger.close()")
	written, err := os.ReadFile(path)
	if err != nil {
		u.t.Fatal(err)
	}
	var found []Record
	for bytes := written[headerBytes:]; len(bytes) >= recordBytes; bytes = bytes[recordBytes:] {
		word := func(at int) uint32 { return binary.LittleEndian.Uint32(bytes[at:]) }
		found = append(found, Record{
			StartUs: binary.LittleEndian.Uint64(bytes), Sequence: word(8), BlockedUs: word(12), DurationUs: word(16),
			Status: uint16(word(20)), Operation: uint16(word(20) >> 16), ErrorCode: word(24),
		})
	}
	return found
}

const send = `ledger.write("/api/posts", "x-1", JSON.stringify({ id: "x-1", content: "영화" }))`

func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL
}

func TestAWriteIsAPostThatIsRecorded(t *testing.T) {
	url := serve(t, func(answer http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		if request.Method+request.URL.Path+request.Header.Get("Content-Type")+string(body) !=
			`POST/api/postsapplication/json{"id":"x-1","content":"영화"}` || request.Header["Idempotency-Key"] != nil {
			t.Errorf("%v %s", request, body)
		}
		answer.Header().Set("Location", "/api/posts/x-1")
		answer.WriteHeader(http.StatusCreated)
	})
	both := users(t, 2, url)
	before := time.Now()
	for _, user := range both {
		user.run(send)
	}
	if begun := both[1].run("ledger.begun()").ToInteger(); begun != 2 {
		t.Errorf("%d begun", begun)
	}
	found := both[0].records()
	if len(found) != 2 {
		t.Fatalf("%v", found)
	}
	for _, record := range found {
		if record.Sequence != 7 || record.Operation != write || record.Status != 201 || record.ErrorCode != 0 ||
			record.DurationUs == 0 || record.StartUs+1e6 < uint64(before.UnixMicro()) {
			t.Errorf("%+v", record)
		}
	}
	if found[0].StartUs+uint64(found[0].BlockedUs+found[0].DurationUs) > found[1].StartUs {
		t.Errorf("%+v at once", found)
	}
}

func TestAnAnswerThatIsNotWhatItsStatusSaysHasACode(t *testing.T) {
	const find = `ledger.search("/api/posts?size=20&keyword=x", 7, false)`
	const growing = `ledger.search("/api/posts?size=20&keyword=x", 7, true)`
	for _, one := range []struct {
		script  string
		status  int
		name    string // of a header
		value   string
		body    string
		code    uint32
		operand uint16
	}{
		{send, 201, "Location", "/api/posts/x-1", "{}", 0, write},
		{send, 201, "Location", "/api/posts/y-1", "{}", wrongAck, write},
		{send, 201, "", "", "", wrongAck, write},
		{send, 400, "", "", "", 1400, write},
		{send, 503, "X-Refused-By", "application", "", refusedByApplication, write},
		{send, 503, "X-Refused-By", "store", "", refusedByStore, write},
		{send, 503, "X-Refused-By", "nobody", "", 1503, write},
		{find, 200, "", "", `{"total":7,"posts":[]}`, 0, search},
		{find, 200, "", "", `{"total":6,"posts":[]}`, wrongTotal, search},
		{find, 200, "", "", `{"total":8,"posts":[]}`, wrongTotal, search},
		{find, 200, "", "", `{"posts":[]}`, wrongTotal, search},
		{find, 200, "", "", `{"posts":[{"content":"\"total\":7"}],"total":9}`, wrongTotal, search},
		{find, 503, "", "", "", 1503, search},
		{growing, 200, "", "", `{"total":8}`, 0, search},
		{growing, 200, "", "", `{"total":6}`, wrongTotal, search},
	} {
		url := serve(t, func(answer http.ResponseWriter, _ *http.Request) {
			answer.Header().Set(one.name, one.value)
			answer.WriteHeader(one.status)
			_, _ = io.WriteString(answer, one.body)
		})
		user := users(t, 1, url)[0]
		user.run(one.script)
		found := user.records()
		if len(found) != 1 || found[0].Status != uint16(one.status) || found[0].ErrorCode != one.code ||
			found[0].Operation != one.operand {
			t.Errorf("%+v: %+v", one, found)
		}
	}
}

func TestAConnectionIsUsedAgainUntilTheServerClosesIt(t *testing.T) {
	var peers []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		peers = append(peers, request.RemoteAddr)
	}))
	defer server.Close()
	both := users(t, 2, server.URL)
	both[0].run(send)
	both[1].run(send)
	server.CloseClientConnections()
	both[0].run(send)
	if len(peers) != 3 || peers[0] != peers[1] || peers[1] == peers[2] {
		t.Errorf("%v", peers)
	}
	for _, record := range both[0].records() {
		if record.Status != 200 {
			t.Errorf("%+v", record)
		}
	}
}

func TestARequestWithoutAnAnswerIsSentOnceAndSaysWhy(t *testing.T) {
	sent := 0
	url := serve(t, func(http.ResponseWriter, *http.Request) {
		sent++
		panic(http.ErrAbortHandler)
	})
	user := users(t, 1, url)[0]
	user.run(send)
	if found := user.records(); sent != 1 || len(found) != 1 || found[0].Status != 0 || found[0].ErrorCode != endOfFile {
		t.Errorf("sent %d times: %+v", sent, found)
	}
	user = users(t, 1, "http://127.0.0.1:1")[0]
	user.run(send)
	if found := user.records(); len(found) != 1 || found[0].ErrorCode != connectionRefused || found[0].BlockedUs != 0 {
		t.Errorf("%+v", found)
	}
}

func TestAnInterruptedRequestIsBegunAndLeavesNoRecord(t *testing.T) {
	var user user
	url := serve(t, func(_ http.ResponseWriter, request *http.Request) {
		_, _ = io.ReadAll(request.Body) // only then a server notices that a connection is closed
		user.CancelContext()
		<-request.Context().Done() // the connection is closed
	})
	user = users(t, 1, url)[0]
	user.run(send)
	if begun := user.run("ledger.begun()").ToInteger(); begun != 1 {
		t.Errorf("%d begun", begun)
	}
	if found := user.records(); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}

func TestWhatCannotBeRecordedEndsTheTest(t *testing.T) {
	user := users(t, 1, "http://127.0.0.1:1")[0]
	_, err := user.VU.Runtime().RunString(`ledger.close(); ` + send + `; for (;;) {}`) // what would go on is interrupted
	if err == nil || !strings.Contains(err.Error(), "test aborted: the request could not be recorded") {
		t.Errorf("%v", err)
	}
}

func TestEntriesRepeat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "entries.json")
	if err := os.WriteFile(path, []byte(`["영화", {"keyword": "k", "total": 3}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	user := users(t, 1, "http://127.0.0.1:1")[0]
	user.run(fmt.Sprintf("const entryOf = openEntries(%q)", path))
	if said := user.run("[entryOf(0), entryOf(2), entryOf(3).keyword, entryOf(1).total].join()").String(); said != "영화,영화,k,3" {
		t.Error(said)
	}
}

func TestAFileThatCannotBeUsedIsNamedBeforeTheLoad(t *testing.T) {
	runtime := users(t, 1, "http://127.0.0.1:1")[0].VU.Runtime()
	for _, script := range []string{`openLedger("/nowhere/it", "http://127.0.0.1:1", 15)`, `openEntries("/nowhere/it")`} {
		if _, err := runtime.RunString(script); err == nil || !strings.Contains(err.Error(), "/nowhere/it") {
			t.Errorf("%s: %v", script, err)
		}
	}
}
