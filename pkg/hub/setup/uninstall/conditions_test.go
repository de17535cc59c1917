package uninstall

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/names"
)

func TestConditionsThatAreRemoved(t *testing.T) {
	const (
		required  = `{"reason":"RequiredDependencyNotSatisfied","status":"True","type":"Degraded"}`
		satisfied = `{"reason":"DependenciesSatisfied","status":"False","type":"Degraded"}`
		foreign   = `{"reason":"DiskFull","status":"True","type":"Degraded"}`
		stopped   = `{"reason":"RequiredDependencyNotSatisfied","status":"False","type":"Available"}`
		awaiting  = `{"reason":"AwaitingHealthCheck","status":"Unknown","type":"Available"}`
		bundled   = `{"reason":"BundleAvailable","status":"True","type":"Available"}`
		available = `{"reason":"ManagedClusterAddOnLeaseUpdated","status":"True","type":"Available"}`
	)
	for name, test := range map[string]struct{ status, want string }{
		"none of ours": {`{"conditions":[` + available + `,` + foreign + `]}`, ``},
		"no status":    {``, ``},
		"a Degraded of ours": {
			`{"conditions":[` + available + `,` + required + `]}`,
			`{"metadata":{"resourceVersion":"7"},"status":{"conditions":[` + available + `]}}`,
		},
		"the last Degraded of ours": {
			`{"conditions":[` + satisfied + `],"namespace":"n"}`,
			`{"metadata":{"resourceVersion":"7"},"status":{"conditions":null}}`,
		},
		"a status of nothing but ours": {
			`{"conditions":[` + satisfied + `,` + stopped + `]}`,
			`{"metadata":{"resourceVersion":"7"},"status":null}`,
		},
		"an Available of a failing dependency": {
			`{"conditions":[` + stopped + `,` + foreign + `]}`,
			`{"metadata":{"resourceVersion":"7"},"status":{"conditions":[` + foreign + `]}}`,
		},
		"an Available that waits": {
			`{"conditions":[` + awaiting + `,` + foreign + `]}`,
			`{"metadata":{"resourceVersion":"7"},"status":{"conditions":[` + foreign + `]}}`,
		},
		"an Available of a bundle": {
			`{"conditions":[` + bundled + `],"healthCheck":{"mode":"Customized"}}`,
			`{"metadata":{"resourceVersion":"7"},"status":{"conditions":null,"healthCheck":null}}`,
		},
		"the mode of an add-on that is no bundle": {
			`{"conditions":[` + stopped + `],"healthCheck":{"mode":"Customized"}}`,
			`{"metadata":{"resourceVersion":"7"},"status":{"conditions":null}}`,
		},
		"a status with other fields": {
			`{"conditions":[` + required + `,` + available + `],"addOnMeta":{}}`,
			`{"metadata":{"resourceVersion":"7"},"status":{"conditions":[` + available + `]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := `{"apiVersion":"addon.open-cluster-management.io/v1alpha1","kind":"ManagedClusterAddOn",` +
				`"metadata":{"name":"a","resourceVersion":"7"}}`
			addOn := &unstructured.Unstructured{}
			if err := json.Unmarshal([]byte(text), &addOn.Object); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(test.status, bundled) {
				addOn.SetManagedFields([]metav1.ManagedFieldsEntry{{
					Manager: names.AddonManager, FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{"f:healthCheck":{"f:mode":{}}}}`)},
				}})
			}
			if test.status != "" {
				var status map[string]any
				if err := json.Unmarshal([]byte(test.status), &status); err != nil {
					t.Fatal(err)
				}
				addOn.Object["status"] = status
			}
			previous := addOn.DeepCopy()
			if got, err := statusPatch(addOn, isOurs); err != nil || string(got) != test.want {
				t.Errorf("%v\n got %s\nwant %s", err, got, test.want)
			}
			if difference := cmp.Diff(previous, addOn); difference != "" {
				t.Errorf("the add-on was changed: %s", difference)
			}
		})
	}
}
