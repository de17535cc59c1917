package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	pageMethod = `A dependency is down on a third of the clusters. kubectl addon ui runs as a process. The time of the first view runs from ` +
		`its start until a client has the first overview. A process that only reads the same lists, in pages, ran just before, and its ` +
		`time is subtracted. Then an add-on becomes available and unavailable on one cluster in turns. The time of a change runs from the ` +
		`response to the patch until the client has the next overview.`
	smallPageBound  = 1.5 // of fleets of up to pluginFleet add-ons
	largePageBound  = 5.0
	pageBoundMiB    = 500.0
	changeBound     = 0.3
	changesOnPage   = 20
	changePatience  = 30 * time.Second
	viewPatience    = 10 * time.Minute
	largestOverview = 64 << 20
)

// page measures the page of kubectl addon ui.
func page(ctx context.Context, s *session, results *result.Scenario) (err error) {
	down := s.everyNth(thirds)
	if err := errors.Join(s.setAvailable(ctx, down, simulator.Root, false), s.settle(ctx, down)); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, s.setAvailable(ctx, down, simulator.Root, true), s.settle(ctx, nil))
	}()
	user, err := s.fleet.Hub.User("page-viewer")
	if err != nil {
		return err
	}
	firstBound := smallPageBound
	if s.installed() > pluginFleet {
		firstBound = largePageBound
	}
	for range s.repetitions {
		list, err := s.pagedList(ctx)
		if err != nil {
			return err
		}
		started := time.Now()
		viewer, err := s.startPage(ctx, user.Kubeconfig)
		if err != nil {
			return err
		}
		first := time.Since(started)
		results.Bound("first view: time beyond the list", "s", (first - list).Seconds(), result.MedianAtMost, firstBound)
		results.Measure("paged list", "s", list.Seconds())
		if err := errors.Join(s.measureChanges(ctx, viewer, down[0], results), viewer.stop()); err != nil {
			return err
		}
	}
	return nil
}

// measureChanges measures the memory of the page, and changes an add-on on a cluster many times.
func (s *session) measureChanges(ctx context.Context, viewer *pageViewer, cluster string, results *result.Scenario) error {
	usage, err := simulator.UsageOf(viewer.process.Process.Pid)
	if err != nil {
		return err
	}
	results.Bound("first view: peak memory", "MiB", usage.Peak, result.NeverAbove, pageBoundMiB)
	if err := s.awaitWatch(ctx, viewer, cluster); err != nil {
		return err
	}
	for i := range changesOnPage {
		if err := viewer.awaitQuiet(ctx); err != nil {
			return err
		}
		if err := s.setAvailable(ctx, []string{cluster}, simulator.Root, i%2 == 0); err != nil {
			return err
		}
		written := time.Now()
		received, err := viewer.next(ctx, changePatience)
		if err != nil {
			return fmt.Errorf("wait for change %d on the page: %w", i, err)
		}
		results.Bound("a change: time until a client has it", "s", received.Sub(written).Seconds(), result.MedianAtMost, changeBound)
	}
	if usage, err = simulator.UsageOf(viewer.process.Process.Pid); err != nil {
		return err
	}
	results.Measure("after the changes: memory", "MiB", usage.RSS)
	return nil
}

// awaitWatch returns after the page shows a change. Until then, the process lists the fleet again, and begins to watch it.
func (s *session) awaitWatch(ctx context.Context, viewer *pageViewer, cluster string) error {
	if err := s.setAvailable(ctx, []string{cluster}, simulator.Root, true); err != nil {
		return err
	}
	if _, err := viewer.next(ctx, viewPatience); err != nil {
		return fmt.Errorf("wait for the watch of the page: %w", err)
	}
	return s.setAvailable(ctx, []string{cluster}, simulator.Root, false)
}

// pageViewer is a process that serves the page, with a client of its events.
type pageViewer struct {
	process *exec.Cmd
	// overviews has the time at which each overview was received. It is closed at the end of the stream.
	overviews chan time.Time
	response  *http.Response
}

// startPage starts kubectl addon ui, and returns after a client has the first overview.
func (s *session) startPage(ctx context.Context, kubeconfig string) (*pageViewer, error) {
	v := &pageViewer{
		process:   exec.CommandContext(ctx, filepath.Join(s.bin, "kubectl-addon"), "ui", "--kubeconfig", kubeconfig),
		overviews: make(chan time.Time, changesOnPage*changesOnPage),
	}
	output, err := v.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := v.process.Start(); err != nil {
		return nil, err
	}
	if err := v.connect(ctx, output); err != nil {
		return nil, errors.Join(err, v.stop())
	}
	_, err = v.next(ctx, viewPatience)
	if err != nil {
		return nil, errors.Join(err, v.stop())
	}
	return v, nil
}

// connect reads the address that the process prints, and begins to read its events.
func (v *pageViewer) connect(ctx context.Context, output io.Reader) error {
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return fmt.Errorf("read the address of the page: %w", err)
	}
	address, token, found := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "Open ")), "#token=")
	if !found {
		return fmt.Errorf("kubectl addon ui has printed %q", line)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"api/events", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	v.response, err = http.DefaultClient.Do(request) //nolint:bodyclose // stop closes it
	if err != nil {
		return err
	}
	if v.response.StatusCode != http.StatusOK {
		return fmt.Errorf("the events of the page: %s", v.response.Status)
	}
	go v.read()
	return nil
}

// read reads the events until their stream ends.
func (v *pageViewer) read() {
	defer close(v.overviews)
	lines := bufio.NewScanner(v.response.Body)
	lines.Buffer(nil, largestOverview)
	isOverview := false
	for lines.Scan() {
		switch line := lines.Text(); {
		case line == "event: overview":
			isOverview = true
		case isOverview && line == "": // the end of the event
			isOverview = false
			v.overviews <- time.Now()
		}
	}
}

// next returns when the next overview is received.
func (v *pageViewer) next(ctx context.Context, patience time.Duration) (time.Time, error) {
	select {
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	case <-time.After(patience):
		return time.Time{}, fmt.Errorf("no overview in %s", patience)
	case received, ok := <-v.overviews:
		if !ok {
			return time.Time{}, errors.New("the page has ended")
		}
		return received, nil
	}
}

// awaitQuiet returns after no overview was received for some time, because addon-manager follows a change with others.
func (v *pageViewer) awaitQuiet(ctx context.Context) error {
	const quietTime = 3 * time.Second
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(quietTime):
			return nil
		case _, ok := <-v.overviews:
			if !ok {
				return errors.New("the page has ended")
			}
		}
	}
}

// stop ends the process as a user does.
func (v *pageViewer) stop() error {
	if v.response != nil {
		_ = v.response.Body.Close() // a body that was not read to its end
	}
	if err := v.process.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	var exitErr *exec.ExitError
	if err := v.process.Wait(); err != nil && !errors.As(err, &exitErr) {
		return err
	}
	return nil
}
