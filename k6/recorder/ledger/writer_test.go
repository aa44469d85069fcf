package ledger

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

const waitAtMost = 20 * time.Second

func create(t *testing.T) (*Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.rec")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w, path
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	found, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return found.Size()
}

func TestARecordIsInTheFileSoonWithoutAClose(t *testing.T) {
	w, path := create(t)
	if err := w.Append(Record{Sequence: 1}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(waitAtMost); size(t, path) < headerBytes+recordBytes; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing was written")
		}
	}
}

func TestRecordsOfManyUsersAreWrittenOnceEachAndWhole(t *testing.T) {
	w, path := create(t)
	const users, each = 8, 2000
	var all sync.WaitGroup
	for user := range users {
		all.Add(1)
		go func() {
			defer all.Done()
			for number := range each {
				if err := w.Append(Record{Sequence: uint32(user*each + number)}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	all.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	bytes, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint32]bool{}
	for at := headerBytes; at < len(bytes); at += recordBytes {
		check := uint32(checkSeed)
		for word := at; word < at+recordBytes; word += 4 {
			check ^= binary.LittleEndian.Uint32(bytes[word:])
		}
		if check != 0 {
			t.Fatalf("a record at %d that is none", at)
		}
		seen[binary.LittleEndian.Uint32(bytes[at+8:])] = true
	}
	if len(bytes) != headerBytes+users*each*recordBytes || len(seen) != users*each {
		t.Errorf("%d bytes, %d sequences", len(bytes), len(seen))
	}
}

func TestSeveralProcessesMeetAndAppendToOneLedger(t *testing.T) {
	first, path := create(t)
	second, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	met := make(chan error)
	go func() { met <- first.meet(t.Context(), 2) }()
	if err := errors.Join(second.meet(t.Context(), 2), <-met); err != nil {
		t.Fatal(err)
	}
	for sequence := range uint32(10) {
		writer := []*Writer{first, second}[sequence%2]
		if err := writer.Append(Record{Sequence: sequence}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(first.Close(), second.Close()); err != nil {
		t.Fatal(err)
	}
	if got := size(t, path); got != headerBytes+10*recordBytes {
		t.Errorf("%d bytes", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := first.meet(ended, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, with one missing", err)
	}
}

func TestWhatCannotBeWrittenIsToldToTheNextRecordAndAtTheEnd(t *testing.T) {
	w, _ := create(t)
	if err := w.file.Close(); err != nil { // as a disk that is full: each write fails from now on
		t.Fatal(err)
	}
	for end := time.Now().Add(waitAtMost); w.Append(Record{}) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no record was refused")
		}
	}
	for range 2 {
		if w.Close() == nil {
			t.Error("closed as if all were written")
		}
	}
}

func TestAClosedLedgerTakesNothing(t *testing.T) {
	w, path := create(t)
	for range 2 {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if w.Append(Record{}) == nil || size(t, path) != headerBytes {
		t.Error("a record was taken after the end")
	}
}
