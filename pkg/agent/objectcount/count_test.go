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

func TestCountOfAList(t *testing.T) {
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

// TestFound: what is known of a kind after each request, and when it is counted again.
func TestFound(t *testing.T) {
	one, two := Count{Number: 1}, Count{Number: 2}
	failed, forbidden := Count{Reason: dependencyv1alpha1.ReasonCountFailed}, Count{Reason: dependencyv1alpha1.ReasonForbidden}
	type step struct {
		found   Count
		silent  bool // the API server did not respond
		want    Count
		changed bool
		again   time.Duration
	}
	for name, steps := range map[string][]step{
		"a number": {{found: one, want: one, changed: true, again: interval}, {found: one, want: one, again: interval}},
		"a number that changes": {
			{found: one, want: one, changed: true, again: interval}, {found: two, want: two, changed: true, again: interval},
		},
		"no right from the start": {
			{found: forbidden, want: forbidden, changed: true, again: retryFirst}, {found: forbidden, want: forbidden, again: 2 * retryFirst},
		},
		"a right that follows": {
			{found: forbidden, want: forbidden, changed: true, again: retryFirst}, {found: one, want: one, changed: true, again: interval},
		},
		"a failure of a moment": {
			{found: one, want: one, changed: true, again: interval},
			{found: failed, want: one, again: retryFirst},
			{found: one, want: one, again: interval},
		},
		"a failure that stays": {
			{found: one, want: one, changed: true, again: interval},
			{found: failed, want: one, again: retryFirst},
			{found: failed, want: failed, changed: true, again: 2 * retryFirst},
			{found: failed, want: failed, again: 4 * retryFirst},
			{found: failed, want: failed, again: 8 * retryFirst},
			{found: failed, want: failed, again: interval},
		},
		"a cluster that does not respond": {
			{found: one, want: one, changed: true, again: interval},
			{found: failed, silent: true, want: one, again: retryFirst},
			{found: failed, silent: true, want: one, again: 2 * retryFirst},
			{found: failed, silent: true, want: one, again: 4 * retryFirst},
		},
		"an API that never responds": {{found: failed, silent: true, want: failed, changed: true, again: retryFirst}},
	} {
		t.Run(name, func(t *testing.T) {
			counted := &kind{}
			for n, step := range steps {
				changed, again := counted.update(step.found, !step.silent)
				if changed != step.changed || again != step.again || counted.count != step.want || !counted.counted {
					t.Errorf("step %d: %t after %s, %+v; want %+v", n, changed, again, counted.count, step)
				}
			}
		})
	}
}
