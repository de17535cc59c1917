package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/yaml"
)

func TestLabelledBy(t *testing.T) {
	const label = "install.dependency.addon.open-cluster-management.io/base"
	selecting := func(expression string) string {
		return "predicates: [{requiredClusterSelector: {labelSelector: " + expression + "}}]"
	}
	exists := selecting("{matchExpressions: [{key: " + label + ", operator: Exists}]}")
	const all, limited, untolerant = ", tolerations: [{operator: Exists}]",
		"Placement places/p selects a limited number of clusters: remove spec.numberOfClusters",
		"Placement places/p does not tolerate every taint, so it uninstalls the add-on from a cluster that is lost: " +
			"set spec.tolerations to [{operator: Exists}]"
	for name, test := range map[string]struct {
		specs []string
		want  Labelled
		limit int
	}{
		"None":           {nil, Labelled{}, 0},
		"AllClusters":    {[]string{"tolerations: [{operator: Exists}]"}, Labelled{}, 0},
		"AnotherLabel":   {[]string{selecting("{matchLabels: {tier: edge}}") + all}, Labelled{}, 0},
		"AnotherAddOn":   {[]string{selecting("{matchExpressions: [{key: "+label+"2, operator: Exists}]}") + all}, Labelled{}, 0},
		"Excluding":      {[]string{selecting("{matchExpressions: [{key: "+label+", operator: DoesNotExist}]}") + all}, Labelled{}, 0},
		"One":            {[]string{exists + all}, Labelled{Placements: 1}, 100},
		"Two":            {[]string{exists + all, exists + all}, Labelled{Placements: 2}, -1},
		"ByValue":        {[]string{selecting(`{matchLabels: {`+label+`: "true"}}`) + all}, Labelled{Placements: 1}, 100},
		"ByOneOfValues":  {[]string{selecting(`{matchExpressions: [{key: `+label+`, operator: In, values: ["true", x]}]}`) + all}, Labelled{Placements: 1}, 100},
		"ByAnotherValue": {[]string{selecting(`{matchLabels: {`+label+`: "x"}}`) + all}, Labelled{}, 0},
		"WithinATier": {
			[]string{selecting("{matchLabels: {tier: edge}, matchExpressions: [{key: "+label+", operator: Exists}]}") + all}, Labelled{Placements: 1}, 100,
		},
		"NoToleration":       {[]string{exists}, Labelled{Problem: untolerant}, 0},
		"TolerationOfAKey":   {[]string{exists + ", tolerations: [{operator: Exists, key: a}]"}, Labelled{Problem: untolerant}, 0},
		"TolerationForATime": {[]string{exists + ", tolerations: [{operator: Exists, tolerationSeconds: 60}]"}, Labelled{Problem: untolerant}, 0},
		"TolerationOfOne":    {[]string{exists + ", tolerations: [{operator: Exists, effect: NoSelect}]"}, Labelled{Problem: untolerant}, 0},
		"Limited":            {[]string{exists + all + ", numberOfClusters: 3"}, Labelled{Problem: limited}, 0},
		"OneIsLimited":       {[]string{exists + all, exists + all + ", numberOfClusters: 3"}, Labelled{Placements: 1, Problem: limited}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			var placements []clusterv1beta1.Placement
			for _, spec := range test.specs {
				var one clusterv1beta1.Placement
				if err := yaml.UnmarshalStrict([]byte("{metadata: {namespace: places, name: p}, spec: {"+spec+"}}"), &one); err != nil {
					t.Fatal(err)
				}
				placements = append(placements, one)
			}
			got := LabelledBy(placements, "base")
			if diff := cmp.Diff(test.want, got); diff != "" || got.Limit() != test.limit {
				t.Errorf("on %d clusters, (-want +got):\n%s", got.Limit(), diff)
			}
		})
	}
}
