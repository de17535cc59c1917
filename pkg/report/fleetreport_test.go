package report_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/manifests"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/fleetreport"
)

// validator returns a function that validates reports on fleets by the schema of the CRD.
func validator(t testing.TB) func(object *report.FleetReport) error {
	t.Helper()
	raw, err := manifests.CRDs.ReadFile("crds/0000_02_dependency.addon.open-cluster-management.io_addonfleetreports.crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd, props := apiextensionsv1.CustomResourceDefinition{}, apiextensions.JSONSchemaProps{}
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		t.Fatal(err)
	}
	schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, &props, nil); err != nil {
		t.Fatal(err)
	}
	compiled, _, err := validation.NewSchemaValidator(&props)
	if err != nil {
		t.Fatal(err)
	}
	return func(object *report.FleetReport) error {
		encoded, err := json.Marshal(object)
		if err != nil {
			return err
		}
		content := map[string]any{}
		if err := json.Unmarshal(encoded, &content); err != nil {
			return err
		}
		return validation.ValidateCustomResource(nil, content, compiled).ToAggregate()
	}
}

// randomFleet returns a fleet in which anything may fail. Names and messages have that number of characters at least.
func randomFleet(random *rand.Rand, clusters, addOns, length int) snapshot.Content {
	pad := func(name string) string { return name + strings.Repeat("<", max(0, length-len(name))) }
	addOn := func(i int) string { return pad(fmt.Sprintf("addon-%02d", i)) }
	content := snapshot.Content{Taken: fixture.Now.Time}
	for i := range addOns {
		registration := fixture.Registration(addOn(i))
		for range random.IntN(3) {
			edge := fixture.Required(addOn(random.IntN(addOns + 2)))
			if random.IntN(4) == 0 {
				edge = fixture.Optional(edge.Name)
			}
			if random.IntN(6) == 0 {
				edge.Version = ">= 2"
			}
			registration.Spec.Dependencies = append(registration.Spec.Dependencies, edge)
		}
		if random.IntN(8) == 0 {
			registration.Spec.Requirements = &addonv1alpha1.AddonRequirements{Kubernetes: ">= 1.30"}
		}
		content.Registrations = append(content.Registrations, registration)
	}
	for c := range clusters {
		name := pad(fmt.Sprintf("cluster-%03d", c))
		if random.IntN(20) > 0 {
			cluster := clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
			cluster.Labels = map[string]string{"region": pad(fmt.Sprint(random.IntN(3)))}
			cluster.Status.Version.Kubernetes = []string{"", "1.29.1", "1.32.0"}[random.IntN(3)]
			status := metav1.ConditionTrue
			if random.IntN(6) == 0 {
				status = metav1.ConditionUnknown
			}
			cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}}
			if random.IntN(15) == 0 {
				cluster.DeletionTimestamp = &fixture.Earlier
			}
			content.Clusters = append(content.Clusters, cluster)
		}
		for i := range addOns {
			if random.IntN(3) > 0 {
				content.AddOns = append(content.AddOns, randomAddOn(random, name, addOn(i), pad))
			}
		}
	}
	return content
}

func randomAddOn(random *rand.Rand, cluster, name string, pad func(string) string) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	changed := metav1.NewTime(fixture.Earlier.Add(-time.Duration(random.IntN(1000)) * time.Second))
	add := func(kind string, status metav1.ConditionStatus, reason string) {
		addOn.Status.Conditions = append(addOn.Status.Conditions,
			metav1.Condition{Type: kind, Status: status, Reason: reason, Message: pad("as tested"), LastTransitionTime: changed})
	}
	if random.IntN(12) == 0 {
		addOn.DeletionTimestamp = &fixture.Earlier
	}
	switch random.IntN(4) {
	case 0:
		add("Available", metav1.ConditionFalse, "Stopped")
	case 1, 2:
		add("Available", metav1.ConditionTrue, "Running")
	}
	if random.IntN(4) == 0 {
		add("Degraded", metav1.ConditionTrue, addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied)
	}
	if random.IntN(6) == 0 {
		addOn.Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
		add("Installable", metav1.ConditionFalse, "WaitingForDependencies")
	}
	return addOn
}

// TestFleetReportAgrees tests that the report on a fleet has the same findings as a snapshot of that fleet.
func TestFleetReportAgrees(t *testing.T) {
	validate := validator(t)
	for seed := range uint64(60) {
		random := fixture.Random(seed)
		hub := snapshot.New(randomFleet(random, 1+random.IntN(20), 1+random.IntN(8), 0))
		got := fleetreport.Of(t, hub)
		if err := validate(got); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		causes := report.FindRootCauses(hub, report.Filter{})
		summary := report.FindSummary(hub, func(string) bool { return true }, "")
		for name, compared := range map[string][2]string{
			"numbers":     {fmt.Sprint(causes.Clusters, causes.Lost, len(causes.Detached), causes.AddOns, len(causes.Items)), numbersOf(got)},
			"root causes": {causesOf(causes), fleetCausesOf(got)},
			"edges":       {edgesOf(summary), fleetEdgesOf(got)},
			"waits":       {waitsOf(summary), fleetWaitsOf(got)},
			"unexplained": {unexplainedOf(causes), fleetUnexplainedOf(got)},
			"unusable":    {fmt.Sprint(len(causes.Unusable)), fmt.Sprint(len(got.Unusable))},
		} {
			if compared[0] != compared[1] {
				t.Errorf("seed %d: %s of the snapshot:\n%s\nof the report:\n%s", seed, name, compared[0], compared[1])
			}
		}
	}
}

func numbersOf(r *report.FleetReport) string {
	return fmt.Sprint(r.Summary.Clusters, r.Summary.Lost, r.Summary.Detached, r.Summary.AddOns, r.Summary.RootCauses)
}

func causesOf(causes *report.RootCauses) string {
	var lines []string
	for i := range causes.Items[:min(len(causes.Items), dependencyv1alpha1.MaxFleetCauses)] {
		item := &causes.Items[i]
		names := map[string]int{}
		for _, victim := range item.Victims {
			names[victim.AddOn]++
		}
		lines = append(lines, fmt.Sprint(item.String(), len(item.Clusters()), len(item.Victims), fmt.Sprint(item.Began), fmt.Sprint(item.Effects),
			item.Others, item.Shared[:min(len(item.Shared), dependencyv1alpha1.MaxFleetTraits)], item.Stored, item.Stopped, item.Unset,
			len(names), item.Message == ""))
	}
	return strings.Join(lines, "\n")
}

func fleetCausesOf(r *report.FleetReport) string {
	var lines []string
	for i := range r.RootCauses {
		item := &r.RootCauses[i]
		var shared []string
		for _, trait := range item.Shared {
			shared = append(shared, fmt.Sprint(trait))
		}
		lines = append(lines, fmt.Sprint(item.Title, item.Clusters, item.AddOns, fmt.Sprint(report.StoredOnset(item.Began)),
			fmt.Sprint(report.StoredOnset(item.Effects)), item.OtherClusters,
			shared, item.Stored, item.Stopped, item.Unset, len(item.Victims)+int(item.OtherVictims), item.Message == ""))
	}
	return strings.Join(lines, "\n")
}

func edgesOf(summary *report.Summary) string {
	var lines []string
	for _, edge := range summary.Items {
		lines = append(lines, fmt.Sprint(edge.AddOn, " ", edge.Edge, " ", edge.Type, " ", edge.Verdicts))
	}
	return strings.Join(lines, "\n")
}

func fleetEdgesOf(r *report.FleetReport) string {
	var lines []string
	for _, edge := range r.Edges {
		verdicts := map[evaluation.Verdict]int{}
		for _, counted := range edge.Verdicts {
			verdicts[evaluation.Verdict(counted.Verdict)] = int(counted.Clusters)
		}
		lines = append(lines, fmt.Sprint(edge.AddOn, " ", edge.Dependency, " ", edge.Type, " ", verdicts))
	}
	return strings.Join(lines, "\n")
}

func waitsOf(summary *report.Summary) string {
	var lines []string
	for _, wait := range summary.Waiting {
		names := slices.Sorted(maps.Keys(wait.Dependencies))
		lines = append(lines, fmt.Sprint(wait.AddOn, wait.Kind, wait.Template, wait.Version, wait.Since.Unix(), len(wait.Clusters),
			wait.Clusters[:min(len(wait.Clusters), dependencyv1alpha1.MaxFleetExamples)], names))
	}
	return strings.Join(lines, "\n")
}

func fleetWaitsOf(r *report.FleetReport) string {
	var lines []string
	for _, wait := range r.Waiting {
		names := []string{}
		for _, dependency := range wait.Dependencies {
			names = append(names, dependency.Dependency)
		}
		lines = append(lines, fmt.Sprint(wait.AddOn, wait.Kind, wait.Template, wait.Version, wait.Since.Unix(), wait.Clusters,
			wait.Examples, names))
	}
	return strings.Join(lines, "\n")
}

func unexplainedOf(causes *report.RootCauses) string {
	var lines []string
	var removing []report.Failing
	for _, removal := range causes.Removing {
		if !slices.ContainsFunc(causes.Items, func(item report.RootCause) bool {
			return item.Removing && item.AddOn == removal.AddOn && slices.Contains(item.Clusters(), removal.Cluster)
		}) {
			removing = append(removing, report.Failing{Cluster: removal.Cluster, AddOn: removal.AddOn, Reason: removal.String()})
		}
	}
	for _, list := range [][]report.Failing{
		removing, causes.Gated, causes.Undecided, causes.Outdated, causes.LastKnown, causes.FailingThemselves,
	} {
		if len(list) > 0 {
			lines = append(lines, fmt.Sprint(len(list), list[0]))
		}
	}
	return strings.Join(lines, "\n")
}

func fleetUnexplainedOf(r *report.FleetReport) string {
	var lines []string
	for _, list := range r.Unexplained {
		lines = append(lines, fmt.Sprint(list.AddOns, report.Failing{Cluster: list.Cluster, AddOn: list.AddOn, Reason: list.Reason}))
	}
	return strings.Join(lines, "\n")
}

// TestLargeFleetReport tests that a report that would be too large keeps what breaks most, and counts the rest.
func TestLargeFleetReport(t *testing.T) {
	hub := snapshot.New(randomFleet(fixture.Random(1), 40, 150, 60))
	got := fleetreport.Of(t, hub)
	encoded, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if len(encoded) < report.MaxFleetBytes/2 || len(encoded) > report.MaxFleetBytes {
		t.Errorf("%d bytes", len(encoded))
	}
	left := got.Summary.LeftOut
	if left.RootCauses == 0 || left.Waiting == 0 || left.Edges == 0 {
		t.Errorf("left out: %+v", left)
	}
	if first := report.FindRootCauses(hub, report.Filter{}).Items[0]; got.RootCauses[0].Title != first.String() {
		t.Errorf("the first cause is %q, want %q", got.RootCauses[0].Title, first.String())
	}
	isUnsatisfied := func(counted dependencyv1alpha1.VerdictCount) bool {
		return evaluation.Verdict(counted.Verdict).Unsatisfied()
	}
	kept := 0
	for _, edge := range got.Edges {
		if slices.ContainsFunc(edge.Verdicts, isUnsatisfied) {
			kept++
		}
	}
	all := 0
	for _, edge := range report.FindSummary(hub, func(string) bool { return true }, "").Items {
		if slices.ContainsFunc(slices.Collect(maps.Keys(edge.Verdicts)), evaluation.Verdict.Unsatisfied) {
			all++
		}
	}
	if kept < all && kept < len(got.Edges) {
		t.Errorf("%d of %d unsatisfied edges are left out, and %d others are kept", all-kept, all, len(got.Edges)-kept)
	}
	if !slices.IsSortedFunc(got.Edges, func(a, b dependencyv1alpha1.FleetEdge) int { return strings.Compare(a.AddOn, b.AddOn) }) {
		t.Error("edges are not ordered by add-on")
	}
}

// FuzzFleetReportIsBounded tests that the API server accepts each report, that it is not larger than its bound, and that no entry is
// missing that is not counted.
func FuzzFleetReportIsBounded(f *testing.F) {
	validate := validator(f)
	for _, seed := range []struct {
		seed                     uint64
		clusters, addOns, length uint16
	}{{0, 0, 0, 0}, {1, 3, 4, 10}, {2, 2, 60, 300}, {3, 12, 40, 60}, {4, 1, 120, 2000}, {5, 200, 8, 253}} {
		f.Add(seed.seed, seed.clusters, seed.addOns, seed.length)
	}
	f.Fuzz(func(t *testing.T, seed uint64, clusters, addOns, length uint16) {
		hub := snapshot.New(randomFleet(fixture.Random(seed), int(clusters%300), int(addOns%150), int(length%3000)))
		got := fleetreport.Of(t, hub)
		if err := validate(got); err != nil {
			t.Errorf("the schema refuses it: %v", err)
		}
		got.Labels = map[string]string{"app.kubernetes.io/managed-by": "interlock-addon-manager"}
		encoded, err := json.Marshal(got)
		if err != nil || len(encoded) > report.MaxFleetBytes {
			t.Errorf("%d bytes, %v", len(encoded), err)
		}
		summary := report.FindSummary(hub, func(string) bool { return true }, "")
		left := got.Summary.LeftOut
		for name, number := range map[string][2]int{
			"root causes": {len(got.RootCauses) + int(left.RootCauses), int(got.Summary.RootCauses)},
			"edges":       {len(got.Edges) + int(left.Edges), len(summary.Items)},
			"waits":       {len(got.Waiting) + int(left.Waiting), len(summary.Waiting)},
			"unusable":    {len(got.Unusable) + int(left.Unusable), len(report.FindUnusable(hub.Declared, ""))},
		} {
			if number[0] != number[1] {
				t.Errorf("%d of %d %s are there or counted", number[0], number[1], name)
			}
		}
	})
}
