package limits

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// budget shares an amount of memory between requests. Where it does not suffice, the
// address that has least is served first, and of the requests of one address the
// smallest. So neither one address nor large requests can take what others need: the
// API server's requests are small, and few at a time.
type budget struct {
	mu   sync.Mutex
	free int64
	// garbage is what requests had. It is free once collect has returned: Go may allocate
	// faster than it collects, and then exceeds its memory limit.
	garbage    int64
	collecting bool
	collect    func() // nil: nothing has to be collected
	total      int64
	// ending is what interrupted requests still have.
	ending  int64
	held    map[string]int64 // by address
	waiting []*share
	// idle are the requests that wait for their client or a processor, and can be
	// interrupted.
	idle map[*share]func()
}

// share is what a request has of a budget, or waits for.
type share struct {
	address     string
	size        int64
	granted     chan struct{}
	interrupted bool
}

func newBudget(total int64, collect func()) *budget {
	return &budget{free: total, total: total, collect: collect, held: map[string]int64{}, idle: map[*share]func(){}}
}

// take waits for a share until the context ends, and reports whether there is one.
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
	at := slices.Index(b.waiting, s)
	if at < 0 { // granted meanwhile
		return s, true
	}
	b.waiting = slices.Delete(b.waiting, at, at+1)
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
		b.unhold(s)
	}
	b.grant()
}

// await marks the request as one that waits. Until resume it may be interrupted for
// another one.
func (b *budget) await(s *share, interrupt func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle[s] = interrupt
	b.grant()
}

// resume reports false for a request that was interrupted.
func (b *budget) resume(s *share) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.idle, s)
	return !s.interrupted
}

func (b *budget) unhold(s *share) {
	if b.held[s.address] -= s.size; b.held[s.address] == 0 {
		delete(b.held, s.address)
	}
}

func (b *budget) grant() {
	defer b.collectGarbage()
	for len(b.waiting) > 0 {
		first := slices.MinFunc(b.waiting, func(x, y *share) int {
			return cmp.Or(cmp.Compare(b.held[x.address]+x.size, b.held[y.address]+y.size), cmp.Compare(x.size, y.size))
		})
		if first.size > b.free {
			b.interruptFor(first)
			return
		}
		b.waiting = slices.DeleteFunc(b.waiting, func(s *share) bool { return s == first })
		b.free -= first.size
		b.held[first.address] += first.size
		close(first.granted)
	}
}

// collectGarbage does so before it is urgent.
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

// interruptFor interrupts requests until there will be enough for the first one: the
// largest of the address that has most, as long as that comes after the first.
func (b *budget) interruptFor(first *share) {
	for b.free+b.garbage+b.ending < first.size && len(b.idle) > 0 {
		var last *share
		for s := range b.idle {
			if last == nil || cmp.Or(cmp.Compare(b.held[s.address], b.held[last.address]), cmp.Compare(s.size, last.size)) > 0 {
				last = s
			}
		}
		comesFirst := b.held[first.address]+first.size < b.held[last.address]
		if first.address == last.address {
			comesFirst = first.size < last.size
		}
		if !comesFirst {
			return
		}
		interrupt := b.idle[last]
		delete(b.idle, last)
		last.interrupted = true
		b.ending += last.size
		b.unhold(last)
		interrupt()
	}
}
