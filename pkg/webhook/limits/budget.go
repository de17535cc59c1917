package limits

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// budget shares an amount of memory between requests. If the memory does not suffice,
// the address with the least memory is first, and the smallest of its requests. So
// neither one address nor large requests can take the memory of others: the API
// server's requests are small, and few at a time.
type budget struct {
	mu   sync.Mutex
	free int64
	// garbage is the memory of requests that have ended. It is free once collect has
	// returned: Go may allocate faster than it collects, and then exceeds its memory limit.
	garbage    int64
	collecting bool
	// collect collects the garbage. It is nil for memory that is free at once.
	collect func()
	total   int64
	// ending is the memory that interrupted requests still use.
	ending int64
	// used is the memory that other requests use, by address.
	used    map[string]int64
	waiting []*share
	// idle are the requests that wait for their client or a processor, with the functions
	// that interrupt them.
	idle map[*share]func()
}

// share is the memory of one request. The request waits for it until granted is closed.
type share struct {
	address     string
	size        int64
	granted     chan struct{}
	interrupted bool
}

func newBudget(total int64, collect func()) *budget {
	return &budget{free: total, total: total, collect: collect, used: map[string]int64{}, idle: map[*share]func(){}}
}

// take waits for a share. It returns false if the context ends before the share is granted.
func (b *budget) take(ctx context.Context, address string, size int64) (*share, bool) {
	s := &share{address: address, size: size, granted: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, s)
	b.grant()
	b.mu.Unlock()
	select {
	case <-s.granted:
		return s, true
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	index := slices.Index(b.waiting, s)
	if index < 0 { // granted meanwhile
		return s, true
	}
	b.waiting = slices.Delete(b.waiting, index, index+1)
	b.grant() // it may have been first
	return nil, false
}

// release gives a share back.
func (b *budget) release(s *share) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.idle, s)
	if b.collect == nil {
		b.free += s.size
	} else {
		b.garbage += s.size
	}
	if s.interrupted {
		b.ending -= s.size
	} else {
		b.returnUsed(s)
	}
	b.grant()
}

// await reports that the request waits for its client or a processor. Until resume, the
// budget may interrupt it for another request.
func (b *budget) await(s *share, interrupt func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle[s] = interrupt
	b.grant()
}

// resume reports that the request continues. It returns false if the request was interrupted.
func (b *budget) resume(s *share) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.idle, s)
	return !s.interrupted
}

func (b *budget) returnUsed(s *share) {
	if b.used[s.address] -= s.size; b.used[s.address] == 0 {
		delete(b.used, s.address)
	}
}

// grant grants the shares that wait, in order, as long as memory is free.
func (b *budget) grant() {
	defer b.collectGarbage()
	for len(b.waiting) > 0 {
		first := slices.MinFunc(b.waiting, func(x, y *share) int {
			return cmp.Or(cmp.Compare(b.used[x.address]+x.size, b.used[y.address]+y.size), cmp.Compare(x.size, y.size))
		})
		if first.size > b.free {
			b.interruptFor(first)
			return
		}
		b.waiting = slices.DeleteFunc(b.waiting, func(s *share) bool { return s == first })
		b.free -= first.size
		b.used[first.address] += first.size
		close(first.granted)
	}
}

// collectGarbage collects garbage if less than half of the memory is free, or a share waits.
func (b *budget) collectGarbage() {
	if b.collecting || b.garbage == 0 || b.free > b.total/2 && len(b.waiting) == 0 {
		return
	}
	b.collecting = true
	go func(garbage int64) {
		b.collect()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.collecting = false
		b.garbage -= garbage
		b.free += garbage
		b.grant()
	}(b.garbage)
}

// interruptFor interrupts requests until there will be enough memory for the first share.
// It interrupts the largest request of the address that uses the most memory, as long as
// the first share takes precedence over it.
func (b *budget) interruptFor(first *share) {
	for b.free+b.garbage+b.ending < first.size && len(b.idle) > 0 {
		var last *share
		for s := range b.idle {
			if last == nil || cmp.Or(cmp.Compare(b.used[s.address], b.used[last.address]), cmp.Compare(s.size, last.size)) > 0 {
				last = s
			}
		}
		precedes := b.used[first.address]+first.size < b.used[last.address]
		if first.address == last.address {
			precedes = first.size < last.size
		}
		if !precedes {
			return
		}
		interrupt := b.idle[last]
		delete(b.idle, last)
		last.interrupted = true
		b.ending += last.size
		b.returnUsed(last)
		interrupt()
	}
}
