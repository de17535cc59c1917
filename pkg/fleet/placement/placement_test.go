package placement

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/test/fixture"
)

// fleetOf returns a fleet with three clusters: a1 and a2 in set a, and b in set b. a2 was tainted
// five minutes ago, and z is being deleted.
func fleetOf(bound ...string) Fleet {
	cluster := func(name, set, platform string, taints ...clusterv1.Taint) clusterv1.ManagedCluster {
		object := clusterv1.ManagedCluster{}
		object.Name, object.Labels = name, map[string]string{clusterv1beta2.ClusterSetLabel: set, "name": name}
		object.Spec.Taints = taints
		object.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "platform", Value: platform}}
		return object
	}
	deleted := cluster("z", "a", "AWS")
	deleted.DeletionTimestamp = &fixture.Now
	set := func(name string) clusterv1beta2.ManagedClusterSet {
		return clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	globalSet := set("global")
	globalSet.Spec.ClusterSelector.SelectorType = clusterv1beta2.LabelSelector
	globalSet.Spec.ClusterSelector.LabelSelector = &metav1.LabelSelector{}
	tainted := clusterv1.Taint{Key: "gpu", Value: "yes", Effect: clusterv1.TaintEffectNoSelect, TimeAdded: fixture.Earlier}
	return Fleet{
		Clusters: []clusterv1.ManagedCluster{
			cluster("b", "b", "AWS"), deleted, cluster("a1", "a", "AWS"), cluster("a2", "a", "Azure", tainted),
		},
		Sets: []clusterv1beta2.ManagedClusterSet{set("a"), set("b"), globalSet}, Bound: bound, Now: fixture.Now.Time,
	}
}

func TestSelect(t *testing.T) {
	everywhere := fleetOf("global")
	soft := fleetOf("global")
	soft.Clusters[3].Spec.Taints[0].Effect = clusterv1.TaintEffectPreferNoSelect
	onlyNew := fleetOf("global")
	onlyNew.Clusters[3].Spec.Taints[0].Effect = clusterv1.TaintEffectNoSelectIfNew
	byLabel := fleetOf()
	byLabel.Sets, byLabel.Bound = SetsByLabel(byLabel.Clusters)
	predicate := func(selector string) string { return "{predicates: [{requiredClusterSelector: {" + selector + "}}]}" }
	cel := func(expressions ...string) string {
		return predicate("celSelector: {celExpressions: ['" + strings.Join(expressions, "', '") + "']}")
	}
	claim := func(operator string) string {
		return "claimSelector: {matchExpressions: [{key: platform, " + operator + "}]}"
	}
	const tolerated = "{tolerations: [{key: gpu, operator: Exists"
	for name, test := range map[string]struct {
		fleet            Fleet
		spec, want, note string
	}{
		"all without a taint":      {everywhere, "{}", "a1 b", ""},
		"nothing is bound":         {fleetOf(), "{}", "", `no ManagedClusterSet is bound to namespace "n": create a`},
		"bound sets":               {fleetOf("b"), "{}", "b", ""},
		"a set that is not bound":  {fleetOf("b"), "{clusterSets: [a]}", "", `none of its clusterSets (a) is bound to namespace "n": `},
		"one of the bound sets":    {fleetOf("a", "b"), "{clusterSets: [a]}", "a1", ""},
		"a binding to no set":      {fleetOf("c"), "{}", "", "no ManagedClusterSet is bound"},
		"sets by their labels":     {byLabel, "{clusterSets: [b]}", "b", ""},
		"all sets by their labels": {byLabel, "{}", "a1 b", ""},
		"a label":                  {everywhere, predicate("labelSelector: {matchLabels: {name: b}}"), "b", ""},
		"a claim":                  {everywhere, predicate(claim("operator: In, values: [AWS]")), "a1 b", ""},
		"a label and a claim": {
			everywhere,
			predicate("labelSelector: {matchLabels: {name: b}}, " + claim("operator: DoesNotExist")),
			"",
			"",
		},
		"one of two predicates": {
			everywhere,
			predicate("labelSelector: {matchLabels: {name: a1}}}}, {requiredClusterSelector: {labelSelector: {matchLabels: {name: b}}"),
			"a1 b",
			"",
		},
		"an expression":     {everywhere, cel(`managedCluster.metadata.name.startsWith("a")`), "a1", ""},
		"a macro on claims": {everywhere, cel(`managedCluster.status.clusterClaims.exists(c, c.value == "AWS")`), "a1 b", ""},
		"OCM's and Kubernetes' libraries": {
			everywhere, cel(`"{\"a\": 1}".parseJSON().a == 1`, `semver("1.35.0").isGreaterThan(semver("1.34.0"))`), "a1 b", "",
		},
		"both expressions":              {everywhere, cel(`managedCluster.metadata.name != "b"`, `managedCluster.metadata.name != "a1"`), "", ""},
		"an expression that fails":      {everywhere, cel(`managedCluster.metadata.annotations["none"] == ""`), "", ""},
		"an expression that is no bool": {everywhere, cel(`managedCluster.metadata.name`), "", ""},
		"a toleration":                  {everywhere, tolerated + "}]}", "a1 a2 b", ""},
		"toleration of the value":       {everywhere, "{tolerations: [{key: gpu, value: 'yes'}]}", "a1 a2 b", ""},
		"toleration of another value":   {everywhere, "{tolerations: [{key: gpu, value: 'no'}]}", "a1 b", ""},
		"toleration of another key":     {everywhere, "{tolerations: [{key: cpu, operator: Exists}]}", "a1 b", ""},
		"toleration of another effect":  {everywhere, tolerated + ", effect: NoSelectIfNew}]}", "a1 b", ""},
		"toleration of all keys":        {everywhere, "{tolerations: [{operator: Exists}]}", "a1 a2 b", ""},
		"toleration that has ended":     {everywhere, tolerated + ", tolerationSeconds: 300}]}", "a1 b", ""},
		"toleration ending in a second": {everywhere, tolerated + ", tolerationSeconds: 301}]}", "a1 a2 b", ""},
		"a taint that only prefers":     {soft, "{}", "a1 a2 b", ""},
		"a taint for new Placements":    {onlyNew, "{}", "a1 b", ""},
		"more than a number":            {everywhere, "{numberOfClusters: 1}", "a1 b", "numberOfClusters is 1, and prioritizers decide"},
		"no more than a number":         {everywhere, "{numberOfClusters: 2}", "a1 b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			placement := placementOf(t, test.spec)
			selection, err := Select(placement, test.fleet)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(selection.Clusters, " "); got != test.want {
				t.Errorf("selected %q", got)
			}
			notes := strings.Join(selection.Notes, "; ")
			if (test.note == "") != (notes == "") || !strings.Contains(notes, test.note) {
				t.Errorf("notes: %q", notes)
			}
		})
	}
}

func placementOf(t *testing.T, spec string) *clusterv1beta1.Placement {
	t.Helper()
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n"}}
	if err := yaml.UnmarshalStrict([]byte(spec), &placement.Spec); err != nil {
		t.Fatal(err)
	}
	return placement
}

func TestSelectRejectsMisconfiguredPlacements(t *testing.T) {
	predicate := func(selector string) string { return "{predicates: [{requiredClusterSelector: {" + selector + "}}]}" }
	const path = "spec.predicates[0].requiredClusterSelector."
	for spec, want := range map[string]string{
		predicate("labelSelector: {matchLabels: {a: '-'}}"):                              path + "labelSelector: ",
		predicate("claimSelector: {matchExpressions: [{key: a, operator: Is}]}"):         path + "claimSelector: ",
		predicate("celSelector: {celExpressions: ['true', 'cluster.x']}"):                path + "celSelector.celExpressions[1]: ",
		predicate(`celSelector: {celExpressions: ['managedCluster.scores("a") == []']}`): "celExpressions[0]: reads AddOnPlacementScores",
		"{tolerations: [{operator: Equal}]}":                                             `spec.tolerations[0].operator="Equal": must be Exists`,
		"{tolerations: [{key: a, operator: Exists, value: b}]}":                          `spec.tolerations[0].value="b": must be empty`,
	} {
		if _, err := Select(placementOf(t, spec), fleetOf("global")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
