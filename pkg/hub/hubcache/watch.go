package hubcache

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/informerstop"
)

// addOnWatch lets informers of add-ons parse each event of a watch once. client-go parses it
// five times: for its end, its type, its object, the object's kind, and the object's fields.
type addOnWatch struct{ client rest.Interface }

// newInformer implements the cache option NewInformer.
func (w addOnWatch) newInformer(
	listWatch toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers,
) toolscache.SharedIndexInformer {
	if _, ok := object.(*addonv1alpha1.ManagedClusterAddOn); ok {
		listWatch = &toolscache.ListWatch{
			ListWithContextFunc:  toolscache.ToListerWatcherWithContext(listWatch).ListWithContext,
			WatchFuncWithContext: w.watch,
		}
	}
	return informerstop.NewInformer(listWatch, object, resync, indexers)
}

var notDecoded = apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding")

func (w addOnWatch) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch, options.AllowWatchBookmarks = true, true
	body, err := w.client.Get().Resource("managedclusteraddons").VersionedParams(&options, metav1.ParameterCodec).Stream(ctx)
	switch {
	case err == nil:
		return watch.NewStreamWatcherWithLogger(klog.FromContext(ctx), newDecoder(body), notDecoded), nil
	case net.IsProbableEOF(err) || net.IsTimeout(err): // the reflector tries again, as it does with client-go
		return watch.NewEmptyWatch(), nil
	}
	return nil, err
}

// largestEvent is the maximum size of an event in bytes. API servers send smaller ones.
const largestEvent = 16 << 20

// decoder implements watch.Decoder for add-ons.
type decoder struct {
	events *bufio.Scanner
	body   io.Closer
}

func newDecoder(body io.ReadCloser) decoder {
	events := bufio.NewScanner(body)
	events.Buffer(nil, largestEvent)
	events.Split(wholeLine)
	return decoder{events: events, body: body}
}

// wholeLine implements bufio.SplitFunc. An incomplete line at the end of the stream is an error.
func wholeLine(data []byte, atEnd bool) (int, []byte, error) {
	if end := bytes.IndexByte(data, '\n'); end >= 0 {
		return end + 1, data[:end], nil
	}
	if atEnd && len(data) > 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}

// Decode implements watch.Decoder.
func (d decoder) Decode() (watch.EventType, runtime.Object, error) {
	if !d.events.Scan() {
		if err := d.events.Err(); err != nil {
			return "", nil, err
		}
		return "", nil, io.EOF
	}
	var event struct {
		Type   watch.EventType                    `json:"type"`
		Object *addonv1alpha1.ManagedClusterAddOn `json:"object"`
	}
	if err := json.Unmarshal(d.events.Bytes(), &event); err != nil {
		return "", nil, fmt.Errorf("decode a watch event: %w", err)
	}
	switch event.Type {
	case watch.Error:
		var failed struct {
			Object *metav1.Status `json:"object"`
		}
		err := json.Unmarshal(d.events.Bytes(), &failed)
		return event.Type, failed.Object, err
	case watch.Added, watch.Modified, watch.Deleted, watch.Bookmark:
		if event.Object != nil {
			return event.Type, event.Object, nil
		}
	}
	return "", nil, fmt.Errorf("decode a watch event: it has the type %q", event.Type)
}

// Close implements watch.Decoder.
func (d decoder) Close() { _ = d.body.Close() }
