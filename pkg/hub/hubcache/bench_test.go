package hubcache

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// fleetSize is the number of add-ons in BenchmarkMemory: 20 on each cluster.
const fleetSize = 100_000

// watchEvent is a watch event of an add-on in the format of an API server.
func watchEvent(i int) []byte {
	name := fmt.Sprintf("addon-%02d", i%20)
	addOn := &addonv1alpha1.ManagedClusterAddOn{TypeMeta: metav1.TypeMeta{
		Kind: "ManagedClusterAddOn", APIVersion: addonv1alpha1.GroupVersion.String(),
	}, ObjectMeta: metav1.ObjectMeta{
		Namespace: fmt.Sprintf(
			"cluster-%05d",
			i/20,
		), Name: name, UID: "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", ResourceVersion: fmt.Sprint(1_000_000 + i),
		Labels: map[string]string{
			"addon": name,
			"tier":  "gold",
		}, Annotations: map[string]string{addonv1alpha1.AddOnVersionAnnotation: "1.2.3"},
	}}
	for _, manager := range []string{"registration", "addon-manager"} {
		fields := `{"f:status":{"f:conditions":{` + strings.Repeat(`"k:{\"type\":\"X\"}":{".":{},"f:message":{}},`, 12) + `"f:x":{}}}}`
		addOn.ManagedFields = append(addOn.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: manager, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)},
		})
	}
	addOn.Status.Conditions = conditions(
		"Configured",
		"Available",
		"Progressing",
		"RegistrationApplied",
		"ManifestApplied",
		"ClusterCertificateRotated",
		"Degraded",
	)
	for i := range addOn.Status.Conditions {
		addOn.Status.Conditions[i].Message = "the message that a controller of OCM sets for the add-on " + name
	}
	addOn.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{
		reference(configResource, "open-cluster-management", "global", "global"), reference(templateResource, "", name, name),
	}
	raw, err := json.Marshal(map[string]any{"type": "ADDED", "object": addOn})
	if err != nil {
		panic(err)
	}
	return raw
}

func decode(b *testing.B, raw []byte) *addonv1alpha1.ManagedClusterAddOn {
	b.Helper()
	var event struct {
		Object *addonv1alpha1.ManagedClusterAddOn
	}
	if err := json.Unmarshal(raw, &event); err != nil {
		b.Fatal(err)
	}
	return event.Object
}

// unshared returns the result of fleet.LeanAddOn without shared strings.
func unshared(full *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
	lean := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: full.Namespace, Name: full.Name, UID: full.UID,
		ResourceVersion: full.ResourceVersion, Labels: full.Labels, Annotations: full.Annotations,
	}}
	lean.Status.Conditions = []metav1.Condition{full.Status.Conditions[1], full.Status.Conditions[6]}
	lean.Status.ConfigReferences = fleet.LeanReferences(full.Status.ConfigReferences)
	return lean
}

// BenchmarkMemory measures the heap of the cache, with and without each optimization. Run it
// with -benchtime 1x.
func BenchmarkMemory(b *testing.B) {
	names := func(addOn client.Object) []string { return []string{addOn.GetName()} }
	ours := toolscache.Indexers{
		"names":     inAllNamespaces(names),
		"configs":   inAllNamespaces(ConfigKeys),
		"templates": inAllNamespaces(TemplateNames),
	}
	theirs := toolscache.Indexers{"names": inBoth(names), "configs": inBoth(ConfigKeys), "templates": inBoth(TemplateNames)}
	shares := &sharing{}
	for _, variant := range []struct {
		name     string
		keep     func(*addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn
		indexers toolscache.Indexers
	}{
		{"nothing-shared", unshared, nil},
		{"strings-shared", fleet.LeanAddOn, nil},
		{"all-shared", shares.managedClusterAddOn, nil},
		{"all-shared+indexes", shares.managedClusterAddOn, ours},
		{"all-shared+indexes-of-controller-runtime", shares.managedClusterAddOn, theirs},
	} {
		b.Run(variant.name, func(b *testing.B) {
			baseline := heap()
			store := toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, variant.indexers)
			for i := range fleetSize {
				if err := store.Add(variant.keep(decode(b, watchEvent(i)))); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(heap()-baseline)/(1<<20), "MiB")
			runtime.KeepAlive(store)
		})
	}
}

// inBoth returns the keys of controller-runtime's indexes: for the namespace and for all namespaces.
func inBoth(values func(client.Object) []string) toolscache.IndexFunc {
	return func(object any) ([]string, error) {
		addOn, keys := object.(client.Object), []string(nil)
		for _, value := range values(addOn) {
			keys = append(keys, addOn.GetNamespace()+"/"+value, "__all_namespaces/"+value)
		}
		return keys, nil
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // the second collection frees unused values of unique.Make
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
