package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

var errInterrupted = errors.New("interrupted")

// world is everything that the demo runs.
type world struct {
	options
	// ctx ends on Ctrl-C, and with the cause when a process dies.
	ctx     context.Context
	abort   context.CancelCauseFunc
	printer *printer
	began   time.Time
	self    string // path of this binary
	dir     string
	logs    string

	ocm      *ocm.Hub
	managed  map[string]*ocm.ManagedCluster
	hub      client.WithWatch
	observer *observer
	services []*program // addon-manager and the addon-agents
	standIns map[types.NamespacedName]*program
	// insisted are the writes of OCM's agent to an add-on that cannot work.
	insisted []attempt
	// versions are the resourceVersions of all add-ons at the last check.
	versions map[types.NamespacedName]string
}

func newWorld(ctx context.Context, o options, p *printer) (*world, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "interlock-demo-")
	if err != nil {
		return nil, err
	}
	w := &world{
		options: o, printer: p, began: time.Now(), self: self, dir: dir, logs: filepath.Join(dir, "logs"),
		managed: map[string]*ocm.ManagedCluster{}, standIns: map[types.NamespacedName]*program{},
	}
	w.ctx, w.abort = context.WithCancelCause(ctx)
	// Output of libraries is discarded: the screen is for the user.
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	return w, os.Mkdir(w.logs, 0o700)
}

// start starts everything that the first step needs.
func (w *world) start() error {
	for _, stage := range []struct {
		title string
		run   func() error
	}{
		{"Starting OCM's hub: a kube-apiserver, an etcd, and OCM's own components", w.startHub},
		{"Starting cluster1, cluster2 and cluster3 with OCM's own agents, and accepting them", w.joinClusters},
		{"Registering add-ons on the hub", w.prepareHub},
		{"Starting addon-manager, and an addon-agent for each managed cluster", w.startServices},
		{"Installing add-ons, each with a stand-in process for its own agent", w.installFirst},
	} {
		finish := w.printer.progress(stage.title)
		err := stage.run()
		err = w.explain(err)
		finish(err)
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) startHub() error {
	options, err := w.cluster("hub")
	if err != nil {
		return err
	}
	w.ocm, err = ocm.StartHub(w.ctx, ocm.HubOptions{
		Options: options, Logs: w.logs, InterlockCRDs: true, MutatingAdmissionPolicy: true,
	})
	return err
}

func (w *world) joinClusters() error {
	var (
		group errgroup.Group
		mutex sync.Mutex
	)
	for _, name := range clusters {
		group.Go(func() error {
			options, err := w.cluster(name)
			if err != nil {
				return err
			}
			cluster, err := w.ocm.Join(w.ctx, name, ocm.JoinOptions{
				Options: options, Logs: w.logs,
				AddOnLeaseInterval: readEvery, AddOnLeaseDurationSeconds: int(w.grace / graceUnit),
			})
			mutex.Lock()
			defer mutex.Unlock()
			w.managed[name] = cluster
			return err
		})
	}
	return group.Wait()
}

// cluster returns the options of a cluster, with its folder and its log.
func (w *world) cluster(name string) (testenv.Options, error) {
	log, err := os.Create(filepath.Join(w.logs, name+"-kube-apiserver.log"))
	return testenv.Options{Name: name, Dir: filepath.Join(w.dir, "clusters", name), Log: log}, err
}

func (w *world) startServices() error {
	user, err := w.ocm.AddUser("addon-manager", "system:masters")
	if err != nil {
		return err
	}
	manager, err := w.run("addon-manager", filepath.Join(w.bin, "addon-manager"), "--kubeconfig", user.Kubeconfig,
		"--metrics-bind-address", "0", "--health-probe-bind-address", "0", "--log-format", "json")
	if err != nil {
		return err
	}
	w.services = append(w.services, manager)
	for _, cluster := range clusters {
		if err := w.startAgent(cluster); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) installFirst() error {
	var err error
	if w.observer, err = observe(w.ctx, w.hub); err != nil {
		return err
	}
	for _, cluster := range clusters {
		for _, name := range installedFirst(cluster) {
			if err := w.install(w.ctx, cluster, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// stop takes everything down. The logs stay if they are still needed.
func (w *world) stop(keepLogs bool) error {
	w.abort(nil)
	finish := w.printer.progress("Taking everything down")
	var (
		group    errgroup.Group
		mutex    sync.Mutex
		failures []error
	)
	for _, p := range w.programs() {
		group.Go(func() error {
			err := p.end()
			mutex.Lock()
			defer mutex.Unlock()
			failures = append(failures, err)
			return nil
		})
	}
	_ = group.Wait() // the errors are in failures
	if w.ocm != nil {
		failures = append(failures, w.ocm.Stop())
	}
	remove := w.dir
	if keepLogs {
		remove = filepath.Join(w.dir, "clusters")
	}
	err := errors.Join(append(failures, os.RemoveAll(remove))...)
	finish(err)
	return err
}

// letGo allows the add-ons' agents to end by themselves from now on.
func (w *world) letGo() {
	for _, p := range w.standIns {
		p.mayEnd.Store(true)
	}
}

// programs returns all running programs, the stand-ins first.
func (w *world) programs() []*program {
	var programs []*program
	for _, p := range w.standIns {
		programs = append(programs, p)
	}
	return append(programs, w.services...)
}

// explain replaces the error of an ended context by the reason of its end.
func (w *world) explain(err error) error {
	switch cause := context.Cause(w.ctx); {
	case err == nil || cause == nil || errors.Is(err, cause):
		return err
	case w.interrupted():
		return errInterrupted
	default:
		return fmt.Errorf("%w\n%w", cause, err)
	}
}

// interrupted reports whether a user has interrupted the demo.
func (w *world) interrupted() bool {
	return errors.Is(context.Cause(w.ctx), context.Canceled)
}
