package ledger

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// What is in the file survives a SIGKILL. Little and often: a second's records at once took the processor from the
// load for long enough to be seen in its 99th percentile; a twentieth of a second's are written in microseconds.
const flushEvery = 25 * time.Millisecond

const meetingSuffix = ".meeting" // of the file's name; the runner removes it

var errClosed = errors.New("the ledger is closed")

// Writer takes records from all virtual users and writes them in whole.
type Writer struct {
	file    *os.File
	begun   atomic.Int64 // requests, with those that never come to a record
	mutex   sync.Mutex
	pending []byte
	failure error // the first; from then on nothing is taken, because a gap would look like an interrupted request

	spare   []byte // of the goroutine that writes
	stop    chan struct{}
	done    chan struct{}
	closing sync.Once
	result  error
}

// Create opens the file, which the runner has removed; with its header, unless another k6 of this load was first.
func Create(path string) (*Writer, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	if found, err := file.Stat(); err != nil {
		return nil, errors.Join(err, file.Close())
	} else if found.Size() == 0 {
		if _, err := file.Write(header()); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	w := &Writer{file: file, stop: make(chan struct{}), done: make(chan struct{})}
	go w.writeOften()
	return w, nil
}

// meet waits for the other k6 of this load, each of which writes a byte when it could begin.
func (w *Writer) meet(ctx context.Context, processes int64) error {
	path := w.file.Name() + meetingSuffix
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write([]byte{1})
	for err == nil {
		var found os.FileInfo
		if found, err = file.Stat(); err != nil || found.Size() >= processes {
			break
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return errors.Join(err, file.Close())
}

// Append takes a record; it does not wait for the disk.
func (w *Writer) Append(record Record) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.failure == nil {
		w.pending = record.appendTo(w.pending)
	}
	return w.failure
}

// Close writes what is left; the first failure of all is its result, however often it is called.
func (w *Writer) Close() error {
	w.closing.Do(func() {
		close(w.stop)
		<-w.done
		err := w.file.Close()
		w.mutex.Lock()
		defer w.mutex.Unlock()
		if w.failure == nil {
			w.failure = err
		}
		w.result = w.failure
		if w.failure == nil {
			w.failure = errClosed
		}
	})
	return w.result
}

func (w *Writer) writeOften() {
	defer close(w.done)
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.flush()
		case <-w.stop:
			w.flush()
			return
		}
	}
}

func (w *Writer) flush() {
	w.mutex.Lock()
	full := w.pending
	w.pending = w.spare[:0]
	failed := w.failure != nil
	w.mutex.Unlock()
	w.spare = full
	if len(full) == 0 || failed {
		return
	}
	if _, err := w.file.Write(full); err != nil {
		w.mutex.Lock()
		w.failure = err
		w.mutex.Unlock()
	}
}
