package ledger

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/errext"
)

// What a request does and what became of it, by the numbers that its record has. scripts/src/writepath/load/ledger.py
// has the same.
const (
	write   = 0
	search  = 1
	read    = 2
	login   = 3
	session = 4

	unspecified          = 1000 // k6's own from here (its lib/netext/httpext/error_codes.go)
	timedOut             = 1050
	noSuchHost           = 1101
	connectionFailed     = 1200
	brokenPipe           = 1201
	dialFailed           = 1210
	dialTimedOut         = 1211
	connectionRefused    = 1212
	connectionReset      = 1220
	wrongAck             = 9001 // 201, but Location does not name the id that was sent
	endOfFile            = 9002 // connection closed without an answer
	refusedByApplication = 9005 // 503 at the cap of requests in flight
	refusedByStore       = 9006 // 503: the store or the broker could not take it in time
	wrongTotal           = 9007 // 200, but the total is not the number of posts with the keyword
	loginFailed          = 9008 // of a session: it got no token; of a log-in: 201, but without a token
)

var total = regexp.MustCompile(`"total":([0-9]+)`) // within a post's text the quotes would be escaped

// write is `write(path, id, body)` in a script: a POST, whose 201 must name the id.
func (l *load) write(call sobek.FunctionCall) sobek.Value {
	path, id, body := call.Argument(0).String(), call.Argument(1).String(), call.Argument(2).String()
	return l.recorded(write, l.client.message(http.MethodPost, path, body, ""), func(answer *http.Response, _ []byte) uint32 {
		if answer.StatusCode == http.StatusCreated && !strings.HasSuffix(answer.Header.Get("Location"), "/"+id) {
			return wrongAck
		}
		return refusal(answer)
	})
}

// search is `search(path, total, growing)` in a script: a GET, whose 200 must say how many posts there are; more only
// where posts are added meanwhile.
func (l *load) search(call sobek.FunctionCall) sobek.Value {
	path, expected, growing := call.Argument(0).String(), call.Argument(1).ToInteger(), call.Argument(2).ToBoolean()
	return l.recorded(search, l.client.message(http.MethodGet, path, "", ""), func(answer *http.Response, body []byte) uint32 {
		if answer.StatusCode != http.StatusOK {
			return refusal(answer)
		}
		if said := total.FindSubmatch(body); said != nil {
			found, err := strconv.ParseInt(string(said[1]), 10, 64)
			if err == nil && (found == expected || growing && found > expected) {
				return 0
			}
		}
		return wrongTotal
	})
}

// read is `read(path)` in a script: a GET, of which every 200 is right.
func (l *load) read(call sobek.FunctionCall) sobek.Value {
	return l.recorded(read, l.client.message(http.MethodGet, call.Argument(0).String(), "", ""), byStatus)
}

func byStatus(answer *http.Response, _ []byte) uint32 {
	return refusal(answer)
}

// recorded sends the iteration's only request, records what became of it, and says whether it was served.
func (l *load) recorded(operation uint16, request []byte, code judge) sobek.Value {
	record := l.send(l.writer, Record{Operation: operation, Sequence: l.number()}, request, code)
	return l.vu.Runtime().ToValue(record.served())
}

// send sends the request and records what became of it, which it also returns. record: its operation and sequence.
func (l *load) send(writer *Writer, record Record, request []byte, code judge) Record {
	writer.begun.Add(1)
	begun := time.Now()
	found := l.client.exchange(l.vu.Context(), request, l.timeout, code)
	record.StartUs = l.module.epochUs(begun)
	switch {
	case found.err == nil:
		record.Status, record.ErrorCode = uint16(found.status), found.code
		record.BlockedUs = microseconds(found.connected.Sub(begun))
		record.DurationUs = microseconds(found.ended.Sub(found.connected))
	case l.vu.Context().Err() != nil:
		return record // k6 is stopped: an interrupted request leaves no record
	default:
		record.DurationUs, record.ErrorCode = microseconds(found.ended.Sub(begun)), failure(found.err)
	}
	l.keep(writer, record)
	return record
}

// served is whether the answer was what was asked for.
func (r Record) served() bool {
	return r.Status != 0 && r.ErrorCode == 0
}

// interrupted is whether k6 was stopped before there was an answer or an error.
func (r Record) interrupted() bool {
	return r.Status == 0 && r.ErrorCode == 0
}

// keep records, or ends the test: a load without its ledger is worth nothing.
func (l *load) keep(writer *Writer, record Record) {
	if err := writer.Append(record); err != nil {
		reason := fmt.Sprintf("%s: the request could not be recorded: %v", errext.AbortTest, err)
		l.vu.Runtime().Interrupt(&errext.InterruptError{Reason: reason})
	}
}

// refusal is whose a refusal is, where the answer says so, else k6's code for its status; 0 where it is none.
func refusal(answer *http.Response) uint32 {
	by := answer.Header.Get("X-Refused-By")
	switch {
	case answer.StatusCode < http.StatusBadRequest:
		return 0
	case answer.StatusCode == http.StatusServiceUnavailable && by == "application":
		return refusedByApplication
	case answer.StatusCode == http.StatusServiceUnavailable && by == "store":
		return refusedByStore
	}
	return unspecified + uint32(answer.StatusCode)
}

// failure is k6's code for an error.
func failure(err error) uint32 {
	var operation *net.OpError
	var lookup *net.DNSError
	var slow net.Error
	tcp := errors.As(err, &operation)
	dialling := tcp && operation.Op == "dial"
	late := errors.As(err, &slow) && slow.Timeout()
	switch {
	case errors.As(err, &lookup):
		return noSuchHost
	case late && dialling:
		return dialTimedOut
	case late:
		return timedOut
	case errors.Is(err, syscall.ECONNREFUSED):
		return connectionRefused
	case errors.Is(err, syscall.ECONNRESET):
		return connectionReset
	case errors.Is(err, syscall.EPIPE):
		return brokenPipe
	case dialling:
		return dialFailed
	case tcp:
		return connectionFailed
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return endOfFile
	}
	return unspecified
}
