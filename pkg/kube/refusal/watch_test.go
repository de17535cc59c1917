package refusal

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

var (
	notFound  = apierrors.NewNotFound(schema.GroupResource{}, "")
	forbidden = apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no"))
	errDown   = errors.New("connection refused")
)

// server is an API server that fails lists with these errors, in this order, and then
// serves a single object.
type server []error

func (s *server) source() cache.ListerWatcher {
	return &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			if len(*s) > 0 {
				err := (*s)[0]
				*s = (*s)[1:]
				return nil, err
			}
			return &corev1.ConfigMapList{Items: []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "1"}}}}, nil
		},
		WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			if options.SendInitialEvents != nil {
				return nil, errors.New("not supported")
			}
			return watch.NewFake(), nil
		},
	}
}

func watchOn(s *server, synced func()) (Watch[*corev1.ConfigMap], *[]string) {
	seen := &[]string{}
	return Watch[*corev1.ConfigMap]{
		Informer: cache.NewSharedIndexInformer(s.source(), &corev1.ConfigMap{}, 0, cache.Indexers{}),
		Lean:     func(object *corev1.ConfigMap) *corev1.ConfigMap { return object },
		Changed:  func(_, current *corev1.ConfigMap) { *seen = append(*seen, current.Name) },
		Synced:   synced,
	}, seen
}

func TestRunReturnsLastingRefusal(t *testing.T) {
	t.Parallel()
	w, _ := watchOn(&server{errDown, forbidden, forbidden, notFound}, func() { t.Error("synced") })
	refused, err := w.Run(t.Context())
	if !apierrors.IsNotFound(refused) || err != nil {
		t.Errorf("ended by %v, error %v", refused, err)
	}
}

func TestRunEndsWithContext(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	w, seen := watchOn(&server{forbidden, notFound}, end)
	refused, err := w.Run(ctx)
	if refused != nil || err != nil {
		t.Errorf("ended by %v, error %v", refused, err)
	}
	if len(*seen) != 1 {
		t.Errorf("synced after %v", *seen)
	}
}

func TestChangedIgnoresUnchangedObjects(t *testing.T) {
	object := func(version string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
	}
	var calls int
	w := Watch[*corev1.ConfigMap]{Changed: func(previous, current *corev1.ConfigMap) {
		calls++
		if previous == nil && current == nil {
			t.Error("called without an object")
		}
	}}
	w.changed(nil, object("1"))
	w.changed(object("1"), object("1")) // listed again
	w.changed(object("1"), object("2"))
	w.changed(object("2"), nil)
	if calls != 3 {
		t.Errorf("%d calls", calls)
	}
}

func TestRefusals(t *testing.T) {
	type failure struct {
		refused bool
		read    string
	}
	denied, down := failure{refused: true, read: "1"}, failure{read: "1"}
	for name, test := range map[string]struct {
		failures []failure
		confirm  time.Duration
		want     bool
	}{
		"Once":        {failures: []failure{denied}},
		"ThreeTimes":  {failures: []failure{denied, denied, denied}, want: true},
		"TooShort":    {failures: []failure{denied, denied, denied, denied}, confirm: time.Hour},
		"Interrupted": {failures: []failure{denied, denied, down, denied}},
		"ReadBetween": {failures: []failure{denied, denied, {refused: true, read: "2"}}},
		"AndAgain":    {failures: []failure{denied, down, denied, denied, denied}, want: true},
	} {
		var seen refusals
		var got bool
		for _, failure := range test.failures {
			got = seen.add(failure.refused, failure.read, test.confirm)
		}
		if got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
