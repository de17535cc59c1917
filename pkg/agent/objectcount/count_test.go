package objectcount

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

func TestCoarse(t *testing.T) {
	for number, want := range map[int64]Count{
		0: {}, 1: {Number: 1}, 10: {Number: 10}, 11: {Number: 10, AtLeast: true}, 19: {Number: 10, AtLeast: true},
		20: {Number: 20, AtLeast: true}, 47: {Number: 40, AtLeast: true}, 99: {Number: 90, AtLeast: true},
		100: {Number: 100, AtLeast: true}, 1999: {Number: 1000, AtLeast: true}, 123456: {Number: 100000, AtLeast: true},
	} {
		if got := coarse(number); got != want {
			t.Errorf("%d objects: %+v, want %+v", number, got, want)
		}
	}
}

func TestCountOf(t *testing.T) {
	for _, test := range []struct {
		name      string
		items     int
		remaining *int64
		next      string
		want      Count
	}{
		{name: "none", want: Count{}},
		{name: "one", items: 1, want: Count{Number: 1}},
		{name: "with the number of the others", items: 1, remaining: ptr.To[int64](46), next: "x", want: Count{Number: 40, AtLeast: true}},
		{name: "of an API server that ignores the limit", items: 12, want: Count{Number: 10, AtLeast: true}},
		{name: "of an API server that does not count", items: 1, next: "x", want: Count{Number: 1, AtLeast: true}},
		{name: "with a number that cannot be", items: 1, remaining: ptr.To[int64](-5), next: "x", want: Count{Number: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			list := &metav1.PartialObjectMetadataList{Items: make([]metav1.PartialObjectMetadata, test.items)}
			list.RemainingItemCount, list.Continue = test.remaining, test.next
			if got := countOf(list); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

// TestUpdate tests the count of a kind after each request, and the delay of the next request.
func TestUpdate(t *testing.T) {
	first, second := Count{Number: 1}, Count{Number: 2}
	failed, forbidden := Count{Reason: dependencyv1alpha1.ReasonCountFailed}, Count{Reason: dependencyv1alpha1.ReasonForbidden}
	type step struct {
		result  Count
		silent  bool // the API server did not respond
		want    Count
		changed bool
		delay   time.Duration
	}
	for name, steps := range map[string][]step{
		"a number": {{result: first, want: first, changed: true, delay: interval}, {result: first, want: first, delay: interval}},
		"a number that changes": {
			{result: first, want: first, changed: true, delay: interval}, {result: second, want: second, changed: true, delay: interval},
		},
		"no right from the start": {
			{result: forbidden, want: forbidden, changed: true, delay: retryFirst}, {result: forbidden, want: forbidden, delay: 2 * retryFirst},
		},
		"a right that follows": {
			{result: forbidden, want: forbidden, changed: true, delay: retryFirst}, {result: first, want: first, changed: true, delay: interval},
		},
		"a failure of a moment": {
			{result: first, want: first, changed: true, delay: interval},
			{result: failed, want: first, delay: retryFirst},
			{result: first, want: first, delay: interval},
		},
		"a failure that stays": {
			{result: first, want: first, changed: true, delay: interval},
			{result: failed, want: first, delay: retryFirst},
			{result: failed, want: failed, changed: true, delay: 2 * retryFirst},
			{result: failed, want: failed, delay: 4 * retryFirst},
			{result: failed, want: failed, delay: 8 * retryFirst},
			{result: failed, want: failed, delay: interval},
		},
		"a cluster that does not respond": {
			{result: first, want: first, changed: true, delay: interval},
			{result: failed, silent: true, want: first, delay: retryFirst},
			{result: failed, silent: true, want: first, delay: 2 * retryFirst},
			{result: failed, silent: true, want: first, delay: 4 * retryFirst},
		},
		"an API that never responds": {{result: failed, silent: true, want: failed, changed: true, delay: retryFirst}},
	} {
		t.Run(name, func(t *testing.T) {
			counted := &kind{}
			for n, step := range steps {
				changed, delay := counted.update(step.result, !step.silent)
				if changed != step.changed || delay != step.delay || counted.count != step.want || !counted.counted {
					t.Errorf("step %d: %t after %s, %+v; want %+v", n, changed, delay, counted.count, step)
				}
			}
		})
	}
}
