package witness

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// patience is more than a minute. An informer waits that long, at most, before it lists again after a suite of
	// CRDs has ended its watch many times.
	patience = 90 * time.Second
	interval = 20 * time.Millisecond
	// logPatience is how long the log may lack the request that stored a version. If the client canceled a request,
	// the log never shows a version for it.
	logPatience = 5 * time.Second

	// markPrefix begins the field managers of requests that mark the audit log.
	markPrefix = "witness-"
)

// catchUp waits until the watches and the log show all that was written before the call.
func (w *Witness) catchUp(ctx context.Context) error {
	mark := markPrefix + string(uuid.NewUUID())
	if err := w.mark(ctx, mark); err != nil {
		return fmt.Errorf("mark the audit log: %w", err)
	}
	lists, err := w.listsWhenServed(ctx)
	if err != nil {
		return fmt.Errorf("read what is stored: %w", err)
	}
	marked, missing, began := false, "", time.Now()
	err = wait.PollUntilContextTimeout(ctx, interval, patience, true, func(context.Context) (bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		requests, err := w.log.read()
		for _, request := range requests {
			if strings.HasPrefix(request.Writer.Manager, markPrefix) {
				marked = marked || request.Writer.Manager == mark
				continue
			}
			w.record.requests = append(w.record.requests, request)
		}
		if missing = "the end of the audit log"; marked {
			missing = w.missing(lists)
			if unexplained := w.record.unexplained(); missing == "" && len(unexplained) > 0 && time.Since(began) < logPatience {
				missing = fmt.Sprintf("the request that stored version %d of %s in the audit log", unexplained[0].state.Version, unexplained[0].object)
			}
		}
		return missing == "", err
	})
	if err != nil {
		return fmt.Errorf("the witness lacks %s: %w", missing, err)
	}
	return nil
}

// mark makes a request that stores nothing. In the log it follows all requests that were complete before it.
func (w *Witness) mark(ctx context.Context, name string) error {
	_, err := w.kube.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{},
		metav1.CreateOptions{FieldManager: name})
	return err
}

// list holds the stored versions of a resource's objects.
type list struct {
	resource string
	version  uint64
	versions map[Object]uint64
}

// listsWhenServed lists until each resource is served. After a change of its CRD, a resource is not served for a
// moment.
func (w *Witness) listsWhenServed(ctx context.Context) ([]list, error) {
	var stored []list
	var err error
	_ = wait.PollUntilContextTimeout(ctx, time.Second, patience, true, func(ctx context.Context) (bool, error) {
		stored, err = w.lists(ctx)
		return err == nil, nil
	})
	return stored, err
}

func (w *Witness) lists(ctx context.Context) ([]list, error) {
	var lists []list
	for _, resource := range resources {
		response, err := w.dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		version, err := strconv.ParseUint(response.GetResourceVersion(), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("resourceVersion of a list of %s: %w", resource.Resource, err)
		}
		stored := list{resource.Resource, version, map[Object]uint64{}}
		for i := range response.Items {
			state, err := stateOf(&response.Items[i])
			if err != nil {
				return nil, err
			}
			stored.versions[Object{resource.Resource, response.Items[i].GetNamespace(), response.Items[i].GetName()}] = state.Version
		}
		lists = append(lists, stored)
	}
	return lists, nil
}

// missing names a change that the watches have not delivered yet. It is empty if they have delivered all.
func (w *Witness) missing(lists []list) string {
	for _, list := range lists {
		for object, version := range list.versions {
			if w.reached[object] < version {
				return fmt.Sprintf("version %d of %s on its watch", version, object)
			}
		}
		for object, state := range w.latest {
			if _, stored := list.versions[object]; !stored && object.Resource == list.resource && state.Version <= list.version {
				return fmt.Sprintf("the deletion of %s on its watch", object)
			}
		}
	}
	return ""
}
