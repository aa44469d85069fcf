package ledger

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/common"
)

// session is `session(path, body, lists)` in a script: a user logs in with a POST of that body, then gets each list with
// the token. All sessions of a load have as many lists. Each request has a record in the ledger of requests; the session
// has one in its own, with what became of the first request that failed. Without a token, and after a request without an
// answer, it ends.
func (l *load) session(call sobek.FunctionCall) sobek.Value {
	var lists []string
	if err := l.vu.Runtime().ExportTo(call.Argument(2), &lists); err != nil {
		common.Throw(l.vu.Runtime(), err)
	}
	l.writer.begun.Add(1)
	begun, number := time.Now(), l.number()
	whole := Record{StartUs: l.module.epochUs(begun), Sequence: number, Operation: session, Status: http.StatusOK}
	request := number * uint32(1+len(lists))
	last, token := l.login(request, call.Argument(0).String(), call.Argument(1).String())
	if token == "" {
		whole.Status, whole.ErrorCode, lists = last.Status, loginFailed, nil
	}
	for _, path := range lists {
		request++
		message := l.client.message(http.MethodGet, path, "", token)
		last = l.send(l.requests, Record{Operation: read, Sequence: request}, message, byStatus)
		if whole.Status == http.StatusOK { // none has failed so far
			whole.Status, whole.ErrorCode = last.Status, last.ErrorCode
		}
		if last.Status == 0 {
			break
		}
	}
	if !last.interrupted() {
		whole.DurationUs = microseconds(time.Since(begun))
		l.keep(l.writer, whole)
	}
	return l.vu.Runtime().ToValue(whole.served())
}

// login is what became of a log-in, and the token; "": it has failed.
func (l *load) login(sequence uint32, path, body string) (Record, string) {
	var found struct{ Token string }
	message := l.client.message(http.MethodPost, path, body, "")
	record := l.send(l.requests, Record{Operation: login, Sequence: sequence}, message,
		func(answer *http.Response, body []byte) uint32 {
			if answer.StatusCode != http.StatusCreated {
				return refusal(answer)
			}
			if _ = json.Unmarshal(body, &found); found.Token == "" {
				return loginFailed
			}
			return 0
		})
	return record, found.Token
}
