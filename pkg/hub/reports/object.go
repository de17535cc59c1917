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

	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/names"
)

// reportKey returns the key of the report on a cluster.
func reportKey(cluster string) types.NamespacedName {
	return types.NamespacedName{Namespace: cluster, Name: cluster}
}

// configurationOf returns the apply configuration of a whole report, so that an apply removes old parts.
func configurationOf(object *dependencyReport) (*unstructured.Unstructured, error) {
	applied := *object
	applied.Labels = map[string]string{names.ManagedBy: names.AddonManager}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&applied)
	if err != nil {
		return nil, fmt.Errorf("convert the AddOnDependencyReport of cluster %s: %w", object.Name, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

var seed = maphash.MakeSeed()

// fingerprint returns a hash of the content of a report. It replaces a cache, which would have
// a report of up to 256 KiB for each cluster.
func fingerprint(object *dependencyReport) (uint64, error) {
	content := *object
	content.TypeMeta, content.ObjectMeta = metav1.TypeMeta{}, metav1.ObjectMeta{}
	encoded, err := json.Marshal(content)
	if err != nil {
		return 0, fmt.Errorf("encode the AddOnDependencyReport of cluster %s: %w", object.Name, err)
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
