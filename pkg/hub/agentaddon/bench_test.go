package agentaddon

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
)

// BenchmarkCachedPerCluster tells how much memory the leader's caches take for
// each managed cluster: its ManagedCluster, the add-on on it, and its work.
func BenchmarkCachedPerCluster(b *testing.B) {
	const clusters = 1000
	for b.Loop() {
		before := heap()
		kept := make([]any, 0, 3*clusters)
		for i := range clusters {
			for _, full := range cachedOf(b, fmt.Sprintf("cluster-%d", i)) {
				object, err := lean(full)
				if err != nil {
					b.Fatal(err)
				}
				kept = append(kept, object)
			}
		}
		b.ReportMetric(float64(heap()-before)/clusters, "B/cluster")
		runtime.KeepAlive(kept)
	}
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// cachedOf are a cluster's objects as they come from the hub: each string on its own.
func cachedOf(b *testing.B, name string) []any {
	b.Helper()
	installed := onCluster(name)
	for _, kind := range []string{"Available", "Configured", "Progressing", "RegistrationApplied", "ManifestApplied", "ClusterCertificateRotated"} {
		installed.Status.Conditions = append(installed.Status.Conditions, metav1.Condition{
			Type: kind, Status: "True", Reason: "SomethingHasCompleted", Message: "It has completed with an ordinary message of some length.",
		})
	}
	objects, err := render(settings{cluster: name, namespace: defaultNamespace, image: image})
	if err != nil {
		b.Fatal(err)
	}
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "addon-interlock-agent-deploy-0"}}
	for _, object := range objects {
		raw, err := json.Marshal(object)
		if err != nil {
			b.Fatal(err)
		}
		work.Spec.Workload.Manifests = append(work.Spec.Workload.Manifests, workv1.Manifest{RawExtension: apiruntime.RawExtension{Raw: raw}})
	}
	return []any{
		reread(b, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}, &clusterv1.ManagedCluster{}),
		reread(b, installed, &addonv1beta1.ManagedClusterAddOn{}), reread(b, work, &workv1.ManifestWork{}),
	}
}

func reread(b *testing.B, object, into any) any {
	b.Helper()
	raw, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		b.Fatal(err)
	}
	return into
}
