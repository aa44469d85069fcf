// Package ledger records what became of each request of a load.
//
// A ledger is a header of 32 bytes and then records of 32 bytes, all little-endian. scripts/src/writepath/load/ledger.py
// reads them; a test on each side holds the same bytes.
//
//	header   0  magic "writepath ledger"    16  u32 version    20  u32 bytes of a record    24  zeros
//	record   0  u64 start, µs since the epoch
//	         8  u32 sequence
//	        12  u32 blocked, µs: waiting for and making a connection
//	        16  u32 duration, µs: from sending to the end of the answer; without one, until given up
//	        20  u16 HTTP status; 0: no answer
//	        22  u16 operation: what the request does, as request.go numbers it
//	        24  u32 error code: k6's, or ours from 9000 on (request.go); 0: none
//	        28  u32 check: the other seven words and checkSeed, exclusive or; a record of zeros is none
package ledger

import (
	"encoding/binary"
	"math"
	"time"
)

const (
	magic       = "writepath ledger"
	version     = 2
	recordBytes = 32
	headerBytes = 32
	checkSeed   = 0x4C504657
)

// Record is one finished request, or one finished session.
type Record struct {
	StartUs    uint64
	Sequence   uint32
	BlockedUs  uint32
	DurationUs uint32
	Status     uint16
	Operation  uint16
	ErrorCode  uint32
}

func header() []byte {
	bytes := append(make([]byte, 0, headerBytes), magic...)
	bytes = binary.LittleEndian.AppendUint32(bytes, version)
	bytes = binary.LittleEndian.AppendUint32(bytes, recordBytes)
	return bytes[:headerBytes]
}

// appendTo adds the record's bytes.
func (r Record) appendTo(bytes []byte) []byte {
	words := [...]uint32{
		uint32(r.StartUs), uint32(r.StartUs >> 32), r.Sequence, r.BlockedUs, r.DurationUs,
		uint32(r.Status) | uint32(r.Operation)<<16, r.ErrorCode,
	}
	check := uint32(checkSeed)
	for _, word := range words {
		bytes = binary.LittleEndian.AppendUint32(bytes, word)
		check ^= word
	}
	return binary.LittleEndian.AppendUint32(bytes, check)
}

// microseconds that a field can hold.
func microseconds(elapsed time.Duration) uint32 {
	return uint32(min(max(elapsed.Microseconds(), 0), math.MaxUint32))
}
