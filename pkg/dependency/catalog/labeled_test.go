package catalog

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestLabeledBy(t *testing.T) {
	const label = "install.dependency.addon.open-cluster-management.io/base"
	selecting := func(expression string) string {
		return "predicates: [{requiredClusterSelector: {labelSelector: " + expression + "}}]"
	}
	exists := selecting("{matchExpressions: [{key: " + label + ", operator: Exists}]}")
	const tolerant, first, limited, untolerant = ", tolerations: [{operator: Exists}]", "Placement places/p0 ",
		"selects a limited number of clusters: remove spec.numberOfClusters",
		"does not tolerate every taint, so it uninstalls the add-on from a cluster that is lost: " +
			"set spec.tolerations to [{operator: Exists}]"
	single := []types.NamespacedName{{Namespace: "places", Name: "p0"}}
	two := append(slices.Clone(single), types.NamespacedName{Namespace: "places", Name: "p1"})
	for name, test := range map[string]struct {
		specs []string
		want  Labeled
		limit int
	}{
		"None":         {nil, Labeled{}, 0},
		"AllClusters":  {[]string{"tolerations: [{operator: Exists}]"}, Labeled{}, 0},
		"AnotherLabel": {[]string{selecting("{matchLabels: {tier: edge}}") + tolerant}, Labeled{}, 0},
		"AnotherAddOn": {[]string{selecting("{matchExpressions: [{key: "+label+"2, operator: Exists}]}") + tolerant}, Labeled{}, 0},
		"Excluding":    {[]string{selecting("{matchExpressions: [{key: "+label+", operator: DoesNotExist}]}") + tolerant}, Labeled{}, 0},
		"One":          {[]string{exists + tolerant}, Labeled{Placements: single}, 100},
		"Two":          {[]string{exists + tolerant, exists + tolerant}, Labeled{Placements: two}, -1},
		"ByValue":      {[]string{selecting(`{matchLabels: {`+label+`: "true"}}`) + tolerant}, Labeled{Placements: single}, 100},
		"ByOneOfValues": {
			[]string{selecting(`{matchExpressions: [{key: `+label+`, operator: In, values: ["true", x]}]}`) + tolerant},
			Labeled{Placements: single},
			100,
		},
		"ByAnotherValue": {[]string{selecting(`{matchLabels: {`+label+`: "x"}}`) + tolerant}, Labeled{}, 0},
		"WithinATier": {
			[]string{selecting("{matchLabels: {tier: edge}, matchExpressions: [{key: "+label+", operator: Exists}]}") + tolerant},
			Labeled{Placements: single},
			100,
		},
		"NoToleration":     {[]string{exists}, Labeled{Problem: first + untolerant}, 0},
		"TolerationOfAKey": {[]string{exists + ", tolerations: [{operator: Exists, key: a}]"}, Labeled{Problem: first + untolerant}, 0},
		"TolerationForATime": {
			[]string{exists + ", tolerations: [{operator: Exists, tolerationSeconds: 60}]"}, Labeled{Problem: first + untolerant}, 0,
		},
		"TolerationOfOne": {
			[]string{exists + ", tolerations: [{operator: Exists, effect: NoSelect}]"}, Labeled{Problem: first + untolerant}, 0,
		},
		"Limited": {[]string{exists + tolerant + ", numberOfClusters: 3"}, Labeled{Problem: first + limited}, 0},
		"OneIsLimited": {
			[]string{exists + tolerant, exists + tolerant + ", numberOfClusters: 3"},
			Labeled{Placements: single, Problem: "Placement places/p1 " + limited},
			100,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var placements []clusterv1beta1.Placement
			for i, spec := range test.specs {
				placements = append(placements, fixture.Decoded[clusterv1beta1.Placement](t,
					fmt.Sprintf("{metadata: {namespace: places, name: p%d}, spec: {%s}}", i, spec)))
			}
			got := labeledBy(placements, func(*clusterv1beta1.Placement) bool { return true }, "base")
			if diff := cmp.Diff(test.want, got); diff != "" || got.Limit() != test.limit {
				t.Errorf("on %d clusters, (-want +got):\n%s", got.Limit(), diff)
			}
		})
	}
}

func TestConsent(t *testing.T) {
	const registered = `[
  {metadata: {name: manual}, spec: {installStrategy: {type: Manual}}},
  {metadata: {name: on-demand, annotations: {dependency.addon.open-cluster-management.io/install-on-demand: "true"}},
    spec: {installStrategy: {type: Manual}}},
  {metadata: {name: labeled}, spec: {installStrategy: {type: Placements, placements: [{namespace: places, name: labeled}]}}},
  {metadata: {name: placed}, spec: {installStrategy: {type: Placements, placements: [{namespace: places, name: all}]}}},
  {metadata: {name: nowhere}, spec: {installStrategy: {type: Placements}}}]`
	const placements = `[{metadata: {namespace: places, name: all}, spec: {tolerations: [{operator: Exists}]}},
  {metadata: {namespace: places, name: labeled}, spec: {tolerations: [{operator: Exists}], predicates: [{requiredClusterSelector: {
    labelSelector: {matchExpressions: [{key: install.dependency.addon.open-cluster-management.io/labeled, operator: Exists}]}}}]}}]`
	items := fixture.Decoded[[]clusterv1beta1.Placement](t, placements)
	unread := New(fixture.Decoded[[]addonv1alpha1.ClusterManagementAddOn](t, registered))
	read := unread.Consented(Placements{Items: items})
	unconsented := unread.Consented(Placements{})
	for addOn, want := range map[string][3]Consent{ // unread, read, and none exists
		"manual": {}, "on-demand": {ByAnnotation, ByAnnotation, ByAnnotation}, "labeled": {ConsentUnknown, ByLabel, NoConsent},
		"placed": {ConsentUnknown, NoConsent, NoConsent}, "nowhere": {}, "unknown": {},
	} {
		if got := [3]Consent{unread.Consent(addOn), read.Consent(addOn), unconsented.Consent(addOn)}; got != want {
			t.Errorf("%s: %q, want %q", addOn, got, want)
		}
	}
}
