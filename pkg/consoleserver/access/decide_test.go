package access

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// rights are the rights of a viewer, each as "verb resource", "verb resource@namespace" or "verb resource/name".
type rights struct {
	held    []string
	failure string

	mutex    sync.Mutex
	reviewed []string
}

func (r *rights) Allowed(_ context.Context, right Right) (bool, error) {
	text := right.Verb + " " + right.Resource
	if right.Namespace != "" {
		text += "@" + right.Namespace
	}
	if right.Name != "" && right.Resource == "managedclusters" {
		text += "/" + right.Name
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.reviewed = append(r.reviewed, text)
	if text == r.failure {
		return false, errors.New("connection refused")
	}
	return slices.Contains(r.held, text), nil
}

func TestDecide(t *testing.T) {
	const base = "list clustermanagementaddons, "
	all := snapshot.Permissions{
		Policies: true, Templates: true, Configs: true, Placements: true, Decisions: true,
		Facts: true, Installations: true, OCM: true, Manager: true,
	}
	only := func(clusters ...string) snapshot.Permissions {
		return snapshot.Permissions{Clusters: sets.New(clusters...)}
	}
	withFacts := only("a", "b")
	withFacts.Facts = true
	for name, test := range map[string]struct {
		held string
		want snapshot.Permissions
		// denied is a part of the reason for a viewer that may see nothing.
		denied string
	}{
		"nothing": {"", snapshot.Permissions{}, `the right to list clustermanagementaddons in API group "addon.open-cluster-management.io"`},
		"all but the registrations": {
			"list managedclusteraddons, list managedclusters, list managedclusterfacts", snapshot.Permissions{}, "list clustermanagementaddons",
		},
		"the registrations alone": {
			base, snapshot.Permissions{}, `list managedclusteraddons in API group "addon.open-cluster-management.io" in the namespace`,
		},
		"the fleet": {base + "list managedclusteraddons, list managedclusters", snapshot.Permissions{}, ""},
		"everything": {base + "list managedclusteraddons, list managedclusters, list addondependencypolicies, list addontemplates, " +
			"list addondeploymentconfigs, list placements, list placementdecisions, list managedclusterfacts, list addoninstallations, " +
			"get customresourcedefinitions, list leases", all, ""},
		"a cluster": {base + "list managedclusteraddons@a, get managedclusters/a", only("a"), ""},
		"add-ons without the cluster": {
			base + "list managedclusteraddons@a, get managedclusters/b", snapshot.Permissions{}, "get managedclusters in API group",
		},
		"all add-ons, and a cluster": {base + "list managedclusteraddons, get managedclusters/b", only("b"), ""},
		"all clusters, add-ons of some": {
			base + "list managedclusters, list managedclusteraddons@a, list managedclusteraddons@c", only("a", "c"), "",
		},
		"facts of one of two": {
			base + "list managedclusters, list managedclusteraddons@a, list managedclusteraddons@b, list managedclusterfacts@a", only("a", "b"), "",
		},
		"facts of both": {
			base + "list managedclusters, list managedclusteraddons@a, list managedclusteraddons@b, " +
				"list managedclusterfacts@a, list managedclusterfacts@b", withFacts, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decide(t.Context(), &rights{held: strings.Split(test.held, ", ")}, []string{"a", "b", "c"})
			var denied *Denied
			if errors.As(err, &denied) != (test.denied != "") || denied != nil && !strings.Contains(denied.Error(), test.denied) {
				t.Fatalf("got %v, want %q", err, test.denied)
			}
			if difference := cmp.Diff(test.want, got); denied == nil && difference != "" {
				t.Errorf("-want, +got:\n%s", difference)
			}
		})
	}
}

// TestFailureIsNoDenial tests that a viewer gets no view, and no reason, if a review fails.
func TestFailureIsNoDenial(t *testing.T) {
	for _, failure := range []string{
		"list clustermanagementaddons", "list managedclusteraddons", "list leases", "list managedclusteraddons@b", "get managedclusters/a",
		"list managedclusterfacts@a",
	} {
		held := []string{"list clustermanagementaddons", "list managedclusteraddons@a", "get managedclusters/a"}
		_, err := Decide(t.Context(), &rights{held: held, failure: failure}, []string{"a", "b"})
		if err == nil || errors.As(err, new(*Denied)) {
			t.Errorf("%s fails: %v", failure, err)
		}
	}
}

// TestWholeFleetTakesFewReviews tests that the number of reviews does not depend on the number of clusters, for a viewer of all of them.
func TestWholeFleetTakesFewReviews(t *testing.T) {
	reviewer := &rights{held: []string{"list clustermanagementaddons", "list managedclusteraddons", "list managedclusters"}}
	if _, err := Decide(t.Context(), reviewer, slices.Repeat([]string{"a"}, 5000)); err != nil || len(reviewer.reviewed) != 12 {
		t.Errorf("%d reviews, %v", len(reviewer.reviewed), err)
	}
}
