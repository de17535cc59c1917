package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// insistences is how often OCM's agent has to write before the step continues.
const insistences = 5

// attempt is a write of an add-on's status in the hub's audit log.
type attempt struct {
	User      struct{ Username string }
	Verb      string
	ObjectRef struct{ Resource, Subresource, Namespace, Name string }
	Status    struct{ Code int } `json:"responseStatus"`
	// Requested and Stored are the written object, and the object after the write.
	Requested object           `json:"requestObject"`
	Stored    object           `json:"responseObject"`
	Received  metav1.MicroTime `json:"requestReceivedTimestamp"`
}

type object struct {
	Metadata metav1.ObjectMeta
	Status   struct{ Conditions []metav1.Condition }
}

// insist waits until OCM's agent has written Available=True to an add-on on cluster1 several times, and checks that
// no such write was stored.
func insist(ctx context.Context, w *world) error {
	began := time.Now()
	labels, err := w.labels(ctx)
	if err != nil {
		return err
	}
	for len(w.insisted) < insistences {
		select {
		case <-time.After(readEvery / 2):
		case <-ctx.Done():
			return fmt.Errorf("OCM's agent has written Available=True to %s %d times only, want %d: %w", gateway, len(w.insisted), insistences, ctx.Err())
		}
		if w.insisted, err = w.attempts(began, gateway); err != nil {
			return err
		}
	}
	for _, a := range w.insisted {
		if seen := a.available(a.Stored); seen != conditionFalse {
			return fmt.Errorf("OCM's agent wrote Available=True to %s, expected the hub to store False, seen %s", gateway, seen)
		}
	}
	after, err := w.labels(ctx)
	if err == nil && after != labels {
		err = fmt.Errorf("the labels of %s have changed, expected %s, seen %s", cluster1, labels, after)
	}
	return err
}

// attempts returns the writes of Available=True by OCM's agent since a moment.
func (w *world) attempts(since time.Time, addOn string) ([]attempt, error) {
	log, err := os.ReadFile(w.ocm.AuditLog)
	if err != nil {
		return nil, err
	}
	var attempts []attempt
	for line := range bytes.Lines(log) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // it is being written
		}
		a, ok, err := parse(line, addOn)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.ocm.AuditLog, err)
		}
		if ok && a.Received.After(since) && a.available(a.Requested) == conditionTrue {
			attempts = append(attempts, a)
		}
	}
	return attempts, nil
}

// parse reads a line of the audit log. The result is true if OCM's agent on cluster1 has written the add-on's status
// with success. Only then are the objects read.
func parse(line []byte, addOn string) (attempt, bool, error) {
	var raw struct {
		attempt
		Requested json.RawMessage `json:"requestObject"`
		Stored    json.RawMessage `json:"responseObject"`
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		return attempt{}, false, err
	}
	a := raw.attempt
	ok := strings.HasPrefix(a.User.Username, "system:open-cluster-management:"+cluster1+":") && a.ObjectRef.Name == addOn &&
		a.ObjectRef.Resource == "managedclusteraddons" && a.ObjectRef.Subresource == "status" && a.Status.Code == http.StatusOK
	if !ok {
		return a, false, nil
	}
	err := errors.Join(json.Unmarshal(raw.Requested, &a.Requested), json.Unmarshal(raw.Stored, &a.Stored))
	return a, true, err
}

// available returns the status of the condition Available.
func (attempt) available(o object) string {
	return string(conditionOf(o.Status.Conditions, "Available").Status)
}

// labels returns the labels of cluster1, by which Placements select.
func (w *world) labels(ctx context.Context) (string, error) {
	cluster := &clusterv1.ManagedCluster{}
	if err := w.ocm.Client.Get(ctx, client.ObjectKey{Name: cluster1}, cluster); err != nil {
		return "", err
	}
	return fmt.Sprint(cluster.Labels), nil
}

func conditionOf(conditions []metav1.Condition, kind string) metav1.Condition {
	for _, condition := range conditions {
		if condition.Type == kind {
			return condition
		}
	}
	return metav1.Condition{}
}

// insisted shows the writes of OCM's agent, and the stored values.
func (p *printer) insisted(w *world) {
	if len(w.insisted) == 0 {
		return
	}
	p.line("")
	p.paragraph(dim, indent, "Written by "+w.insisted[0].User.Username+", from the hub's audit log:")
	rows := make([][]string, len(w.insisted))
	for i, a := range w.insisted {
		rows[i] = []string{
			a.Received.Format("15:04:05.000"), "Available=" + a.available(a.Requested),
			"Available=" + a.available(a.Stored), a.Stored.Metadata.ResourceVersion,
		}
	}
	p.table([]string{"TIME", "WRITTEN", "STORED", "RESOURCEVERSION"}, rows, make([]string, len(rows)), nil)
}
