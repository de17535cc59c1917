package reports

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/report"
)

// reportKey returns the key of the report on a cluster.
func reportKey(cluster string) types.NamespacedName {
	return types.NamespacedName{Namespace: cluster, Name: cluster}
}

// configurationOf returns the apply configuration of a whole report, so that an apply removes old parts.
func configurationOf(object client.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("convert the report %s: %w", object.GetName(), err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// managedBy returns the labels of all reports.
func managedBy() map[string]string { return map[string]string{names.ManagedBy: names.AddonManager} }

var seed = maphash.MakeSeed()

// fingerprint returns a hash of the content of a report. It replaces a cache, which would have
// a report of up to 256 KiB for each cluster.
func fingerprint(content dependencyReport) (uint64, error) {
	name := content.Name
	content.TypeMeta, content.ObjectMeta = metav1.TypeMeta{}, metav1.ObjectMeta{}
	return hash(content, name)
}

// fleetFingerprint returns a hash of the content of a report on the fleet, without its time.
func fleetFingerprint(content report.FleetReport) (uint64, error) {
	name := content.Name
	content.TypeMeta, content.ObjectMeta, content.Observed = metav1.TypeMeta{}, metav1.ObjectMeta{}, metav1.Time{}
	return hash(content, name)
}

func hash(content any, name string) (uint64, error) {
	encoded, err := json.Marshal(content)
	if err != nil {
		return 0, fmt.Errorf("encode the report %s: %w", name, err)
	}
	return maphash.Bytes(seed, encoded), nil
}

// evaluationCache prepares the evaluation of clusters once for each catalog.
type evaluationCache struct {
	mutex     sync.Mutex
	evaluator *evaluation.Evaluator
	prepared  *whatif.Evaluation
}

func (e *evaluationCache) prepare(evaluator *evaluation.Evaluator) *whatif.Evaluation {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.evaluator != evaluator {
		e.evaluator, e.prepared = evaluator, whatif.New(evaluator)
	}
	return e.prepared
}
