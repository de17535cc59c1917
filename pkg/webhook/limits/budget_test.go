package limits

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// wantedShare is a share that a request of an address takes.
type wantedShare struct {
	address string
	size    int64
}

// taking takes a share in the background.
func (b *budget) taking(t *testing.T, w wantedShare) <-chan *share {
	taken := make(chan *share, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if s, ok := b.take(ctx, w.address, w.size); ok {
			taken <- s
		}
	}()
	synctest.Wait()
	return taken
}

func TestTheAddressWithLeastAndTheSmallestAreFirst(t *testing.T) {
	for _, test := range []struct {
		name    string
		waiting []wantedShare // too large for both
		first   int
	}{
		{"in order", []wantedShare{{"b", 50}, {"b", 50}}, 0},
		{"the smaller one", []wantedShare{{"b", 60}, {"b", 50}}, 1},
		{"an address that has nothing", []wantedShare{{"a", 55}, {"b", 60}}, 1},
		{"an address that has nothing, although it wants a lot more", []wantedShare{{"a", 55}, {"b", 80}}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBudget(100, nil)
				b.taking(t, wantedShare{"a", 10})
				rest := <-b.taking(t, wantedShare{"x", 90})
				waiting := []<-chan *share{b.taking(t, test.waiting[0]), b.taking(t, test.waiting[1])}
				b.release(rest)
				synctest.Wait()
				if len(waiting[test.first]) != 1 || len(waiting[1-test.first]) != 0 {
					t.Errorf("granted: %d and %d", len(waiting[0]), len(waiting[1]))
				}
			})
		})
	}
}

func TestRequestsThatWaitForTheirClientAreInterrupted(t *testing.T) {
	for _, test := range []struct {
		name        string
		idle        []wantedShare // they use all memory
		next        wantedShare
		interrupted int // or -1 if none is
	}{
		{"the largest of an address, for a smaller one", []wantedShare{{"a", 20}, {"a", 60}, {"a", 20}}, wantedShare{"a", 30}, 1},
		{"none for an equal one", []wantedShare{{"a", 50}, {"a", 50}}, wantedShare{"a", 50}, -1},
		{"none for a larger one", []wantedShare{{"a", 50}, {"a", 50}}, wantedShare{"a", 60}, -1},
		{"the address that has most, for another one", []wantedShare{{"a", 30}, {"a", 30}, {"b", 40}}, wantedShare{"c", 20}, 0},
		{"also for a request that is larger", []wantedShare{{"a", 20}, {"a", 20}, {"a", 20}, {"b", 40}}, wantedShare{"c", 20}, 0},
		{"none for an address that would have most", []wantedShare{{"a", 30}, {"a", 30}, {"b", 40}}, wantedShare{"b", 30}, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, shares, interrupted := newBudget(100, nil), make([]*share, len(test.idle)), []int{}
				for i, idle := range test.idle {
					shares[i] = <-b.taking(t, idle)
					b.await(shares[i], func() { interrupted = append(interrupted, i) })
				}
				next := b.taking(t, test.next)
				if test.interrupted < 0 {
					if len(interrupted) > 0 {
						t.Errorf("interrupted: %v", interrupted)
					}
					return
				}
				if len(interrupted) != 1 || shares[interrupted[0]].size != test.idle[test.interrupted].size ||
					shares[interrupted[0]].address != test.idle[test.interrupted].address {
					t.Fatalf("interrupted %v, want %d", interrupted, test.interrupted)
				}
				if len(next) != 0 {
					t.Error("granted before the other one has ended")
				}
				if ended := shares[interrupted[0]]; b.resume(ended) {
					t.Error("goes on although it was interrupted")
				} else {
					b.release(ended)
				}
				synctest.Wait()
				if len(next) != 1 {
					t.Error("not granted")
				}
			})
		})
	}
}

func TestARequestThatResumedIsNotInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100, nil)
		s := <-b.taking(t, wantedShare{"a", 100})
		b.await(s, func() { t.Error("interrupted") })
		if !b.resume(s) {
			t.Error("reported as interrupted")
		}
		next := b.taking(t, wantedShare{"b", 10})
		time.Sleep(2 * time.Minute) //nolint:forbidigo // the clock of synctest
		if len(next) != 0 {
			t.Error("granted")
		}
		b.release(s)
		if s := <-b.taking(t, wantedShare{"b", 100}); s == nil || b.free != 0 || b.ending != 0 || len(b.waiting) != 0 {
			t.Errorf("what gave up still has something: %+v", b)
		}
	})
}

func TestMemoryIsFreeOnceItIsCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		collections, collected := 0, make(chan bool)
		b := newBudget(100, func() {
			collections++
			<-collected
		})
		b.release(<-b.taking(t, wantedShare{"a", 40}))
		synctest.Wait()
		if collections != 0 {
			t.Error("collected although most is free")
		}
		rest := <-b.taking(t, wantedShare{"a", 50})
		next := b.taking(t, wantedShare{"a", 30})
		if len(next) != 0 || collections != 1 {
			t.Errorf("granted: %d, collections: %d", len(next), collections)
		}
		collected <- true
		synctest.Wait()
		if len(next) != 1 || b.garbage != 0 || b.free != 20 {
			t.Errorf("granted: %d, %+v", len(next), b)
		}
		b.release(rest)
		synctest.Wait()
		collected <- true
		synctest.Wait()
		if b.free != 70 {
			t.Errorf("free: %d", b.free)
		}
	})
}
