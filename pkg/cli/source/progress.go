package source

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// messages returns the output that shows progress. It is nil if there is none.
func (s *Source) messages() *terminal.Messages {
	messages, _ := s.ErrOut.(*terminal.Messages)
	return messages
}

// progressClient is a client that shows how many objects of a list it has read.
type progressClient struct {
	client.WithWatch
	messages *terminal.Messages

	mutex sync.Mutex
	// read is the number of objects in the pages of the current list, by kind.
	read map[string]int64
}

func newProgressClient(hub client.WithWatch, messages *terminal.Messages) *progressClient {
	return &progressClient{WithWatch: hub, messages: messages, read: map[string]int64{}}
}

// List implements client.Reader.
func (c *progressClient) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	kind := "objects"
	if gvk, err := apiutil.GVKForObject(list, c.Scheme()); err == nil {
		kind = strings.TrimSuffix(gvk.Kind, "List") + " objects"
	}
	isFirst := (&client.ListOptions{}).ApplyOptions(options).Continue == ""
	if isFirst {
		c.add(kind, 0, true)
		c.messages.ShowProgress("Reading " + kind)
	}
	if err := c.WithWatch.List(ctx, list, options...); err != nil {
		return err
	}
	read := c.add(kind, int64(meta.LenList(list)), false)
	if remaining := list.GetRemainingItemCount(); remaining != nil {
		c.messages.ShowProgress(fmt.Sprintf("Reading %s: %d of %d", kind, read, read+*remaining))
	} else if list.GetContinue() != "" { // a selected list has no such number
		c.messages.ShowProgress(fmt.Sprintf("Reading %s: %d", kind, read))
	}
	return nil
}

// add adds the objects of a page, and returns their number so far. isFirst begins again.
func (c *progressClient) add(kind string, objects int64, isFirst bool) int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if isFirst {
		c.read[kind] = 0
	}
	c.read[kind] += objects
	return c.read[kind]
}

// showEvaluations shows how many managed clusters of a snapshot were evaluated.
func (s *Source) showEvaluations(fleetState *snapshot.Snapshot) {
	messages, evaluated, total := s.messages(), map[string]bool{}, len(fleetState.Names())
	if messages == nil {
		return
	}
	var mutex sync.Mutex // reports evaluate several clusters in parallel
	fleetState.OnEvaluation(func(cluster string) {
		mutex.Lock()
		defer mutex.Unlock()
		evaluated[cluster] = true
		messages.ShowProgress(fmt.Sprintf("Evaluating managed clusters: %d of %d", len(evaluated), total))
	})
}
