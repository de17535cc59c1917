package witness

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Options configure a witness.
type Options struct {
	// Hub is an administrator of the hub.
	Hub *rest.Config
	// AuditLog is the log that the API server writes with the flags of AuditFlags.
	AuditLog string
	// Unguarded is true if no guard is in force. A stock True beside a failing Required dependency is then no
	// finding, if at most one write of Interlock follows it. Another stock value may return once after Interlock has
	// replaced it.
	Unguarded bool
}

// Witness observes a hub from Start to Stop.
type Witness struct {
	kube    kubernetes.Interface
	dynamic dynamic.Interface
	stop    context.CancelFunc

	mu       sync.Mutex
	log      *auditLog
	record   record
	latest   map[Object]State  // from the watches
	reached  map[Object]uint64 // the last version that the watches have shown, also of deleted objects
	schedule schedule
}

// Start begins to observe. Earlier steps of the test are not judged.
func Start(ctx context.Context, options Options) (*Witness, error) {
	config := rest.CopyConfig(options.Hub)
	config.QPS = -1
	config.UserAgent = "witness"
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	reader, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	log, err := openAuditLog(options.AuditLog)
	if err != nil {
		return nil, err
	}
	w := &Witness{
		kube: kube, dynamic: reader, log: log,
		latest: map[Object]State{}, reached: map[Object]uint64{},
		schedule: schedule{unguarded: options.Unguarded},
	}
	if err := w.observe(ctx); err != nil {
		return nil, fmt.Errorf("start a witness: %w", err)
	}
	return w, nil
}

// Stop ends the watches.
func (w *Witness) Stop() { w.stop() }

// Cause declares a step before the test takes it. Conditions and labels of the add-ons in the scopes may move after
// that. Without a scope, all add-ons are included. The effects of an earlier cause have to be complete.
func (w *Witness) Cause(name string, scopes ...Scope) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.schedule.causes = append(w.schedule.causes, cause{name: name, scopes: scopes, time: time.Now()})
}

// Removed declares, before the test does it, that dependencies of a registration or add-ons of that name are removed.
func (w *Witness) Removed(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.schedule.removals = append(w.schedule.removals, removal{name, time.Now()})
}

// Settle waits until no change that a quiet period forbids has happened for a while. It fails if the context ends
// first. Earlier changes are still judged as flips.
func (w *Witness) Settle(ctx context.Context, calm time.Duration) error {
	var restless []Finding
	began := time.Now()
	err := wait.PollUntilContextCancel(ctx, calm/4, false, func(ctx context.Context) (bool, error) {
		now := time.Now()
		if now.Sub(began) < calm {
			return false, nil
		}
		if err := w.catchUp(ctx); err != nil {
			return false, err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		restless = w.schedule.restlessness(w.record.writes(), period{start: now.Add(-calm), end: now})
		return len(restless) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("wait until nothing happens for %s: %w\n%s", calm, err, Report(restless))
	}
	return nil
}

// Quiet waits, and returns the writes during that time. Every write of Interlock, and every condition and label that
// moves, is a finding.
func (w *Witness) Quiet(ctx context.Context, duration time.Duration) (Counts, error) {
	quiet := period{start: time.Now()}
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return Counts{}, ctx.Err()
	case <-timer.C:
	}
	quiet.end = time.Now()
	if err := w.catchUp(ctx); err != nil {
		return Counts{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.schedule.quiet = append(w.schedule.quiet, quiet)
	return count(w.record.writes(), quiet), nil
}

// Findings returns the findings so far, in the order of time.
func (w *Witness) Findings(ctx context.Context) ([]Finding, error) {
	if err := w.catchUp(ctx); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return judge(w.record.writes(), w.schedule), nil
}
