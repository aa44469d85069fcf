package ledger

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

const (
	mostDials = 64      // at once
	mostUsers = 100_000 // at once
	headBytes = 200     // about
)

// client sends requests to one server, on connections that all virtual users share: as many as there were requests in
// flight at once. k6 takes its virtual users in turn; with a connection each, a load would begin with a new connection
// for each request. Go's own client hands each request to two more goroutines.
type client struct {
	host     string
	idle     chan *connection
	dialling chan struct{}
}

type connection struct {
	net.Conn
	raw    syscall.RawConn
	reader *bufio.Reader
	body   bytes.Buffer // of the last answer
}

func newClient(host string) (*client, error) {
	return &client{host: host, idle: make(chan *connection, mostUsers), dialling: make(chan struct{}, mostDials)}, nil
}

// outcome is what became of a request.
type outcome struct {
	connected time.Time // and so sent
	ended     time.Time
	status    int // 0: no answer
	code      uint32
	err       error
}

// judge gives the error code of a whole answer; 0: it is what was asked for.
type judge func(answer *http.Response, body []byte) uint32

// exchange sends the request on a connection and reads the whole answer. A request is sent once: nothing is repeated,
// whatever becomes of the connection. timeout: for all of it.
func (c *client) exchange(ctx context.Context, request []byte, timeout time.Duration, code judge) outcome {
	deadline := time.Now().Add(timeout)
	conn, err := c.connection(ctx, deadline)
	found := outcome{connected: time.Now(), err: err}
	if err != nil {
		found.ended = found.connected
		return found
	}
	_ = conn.SetDeadline(deadline)
	cancelled := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	answer, err := conn.answer(request)
	found.ended, found.err = time.Now(), err
	if err == nil {
		found.status, found.code = answer.StatusCode, code(answer, conn.body.Bytes())
	}
	if !cancelled() || err != nil || answer.Close {
		_ = conn.Close()
	} else {
		c.idle <- conn
	}
	return found
}

// connection is an idle one, or a new one; whichever is there first.
func (c *client) connection(ctx context.Context, deadline time.Time) (*connection, error) {
	for {
		var conn *connection
		select {
		case conn = <-c.idle:
		default:
			select {
			case conn = <-c.idle:
			case c.dialling <- struct{}{}:
				defer func() { <-c.dialling }()
				return c.dial(ctx, deadline)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		if conn.open() {
			return conn, nil
		}
		_ = conn.Close()
	}
}

func (c *client) dial(ctx context.Context, deadline time.Time) (*connection, error) {
	conn, err := (&net.Dialer{Deadline: deadline}).DialContext(ctx, "tcp", c.host)
	if err != nil {
		return nil, err
	}
	raw, err := conn.(*net.TCPConn).SyscallConn()
	return &connection{Conn: conn, raw: raw, reader: bufio.NewReader(conn)}, err
}

// answer is the answer to the request, once its body has been read.
func (c *connection) answer(request []byte) (*http.Response, error) {
	if _, err := c.Write(request); err != nil {
		return nil, err
	}
	answer, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return nil, err
	}
	c.body.Reset()
	_, err = c.body.ReadFrom(answer.Body)
	return answer, err
}

// open is whether the server has neither closed an idle connection nor said anything on it.
func (c *connection) open() bool {
	var silent bool
	err := c.raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		silent = err == syscall.EAGAIN
		return true
	})
	return err == nil && silent
}

// message is a request as it is sent. token: who sends it; "": anybody.
func (c *client) message(method, path, body, token string) []byte {
	text := make([]byte, 0, headBytes+len(path)+len(token)+len(body))
	text = append(append(append(text, method...), ' '), path...)
	text = append(append(text, " HTTP/1.1\r\nHost: "...), c.host...)
	text = append(text, "\r\nUser-Agent: k6\r\n"...)
	if token != "" {
		text = append(append(append(text, "Authorization: Bearer "...), token...), "\r\n"...)
	}
	if body != "" { // no Idempotency-Key: a proxy might send such a POST again
		text = append(text, "Content-Type: application/json\r\nContent-Length: "...)
		text = append(strconv.AppendInt(text, int64(len(body)), 10), "\r\n"...)
	}
	return append(append(text, "\r\n"...), body...)
}
