package policies

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// write sends a request about the object as a user.
type write func(ctx context.Context, userClient client.Client, object *unstructured.Unstructured) error

// patching returns a write that patches the object. An apply names the object before the other fields of the body.
func patching(kind types.PatchType, body string) write {
	return func(ctx context.Context, userClient client.Client, object *unstructured.Unstructured) error {
		return userClient.Patch(ctx, object, patchOf(kind, body, object),
			&client.PatchOptions{FieldManager: "attacker", Force: forceOption(kind)})
	}
}

func patchingStatus(kind types.PatchType, body string) write {
	return func(ctx context.Context, userClient client.Client, object *unstructured.Unstructured) error {
		options := client.PatchOptions{FieldManager: "attacker", Force: forceOption(kind)}
		return userClient.Status().Patch(ctx, object, patchOf(kind, body, object), &client.SubResourcePatchOptions{PatchOptions: options})
	}
}

func patchOf(kind types.PatchType, body string, object client.Object) client.Patch {
	if kind == types.ApplyPatchType {
		group := object.GetObjectKind().GroupVersionKind()
		body = fmt.Sprintf(`{"apiVersion":%q,"kind":%q,`, group.GroupVersion(), group.Kind) + body + "}"
	}
	return client.RawPatch(kind, []byte(body))
}

func forceOption(kind types.PatchType) *bool {
	if kind != types.ApplyPatchType {
		return nil
	}
	force := true
	return &force
}

const (
	someOwner = `[{"apiVersion":"v1","kind":"ConfigMap","name":"n","uid":"u"}]`
	someTime  = `"reason":"R","message":"","lastTransitionTime":"2026-01-02T03:04:05Z"`
)

// besideStatus are writes of an object in ways that no component of Interlock uses.
var besideStatus = map[string]write{
	"a label, by JSON patch": patching(types.JSONPatchType, `[{"op":"add","path":"/metadata/labels","value":{"label":"after"}}]`),
	"a finalizer, by JSON patch": patching(types.JSONPatchType,
		`[{"op":"add","path":"/metadata/finalizers","value":["example.com/after"]}]`),
	"an owner, by JSON patch": patching(types.JSONPatchType,
		`[{"op":"add","path":"/metadata/ownerReferences","value":`+someOwner+`}]`),
	"a label, by apply":       patching(types.ApplyPatchType, `"metadata":{"labels":{"label":"after"}}`),
	"an annotation, by apply": patching(types.ApplyPatchType, `"metadata":{"annotations":{"annotation":"after"}}`),
	"a finalizer, by apply":   patching(types.ApplyPatchType, `"metadata":{"finalizers":["example.com/after"]}`),
	"an owner, by apply":      patching(types.ApplyPatchType, `"metadata":{"ownerReferences":`+someOwner+`}`),
	"a label, by update": func(ctx context.Context, userClient client.Client, object *unstructured.Unstructured) error {
		object.SetLabels(map[string]string{"label": "after"})
		return userClient.Update(ctx, object)
	},
	"a new object, by apply": func(ctx context.Context, userClient client.Client, object *unstructured.Unstructured) error {
		object.SetName("created")
		return patching(types.ApplyPatchType, `"metadata":{"name":"created"},"spec":{}`)(ctx, userClient, object)
	},
	"a new object of a generated name": func(ctx context.Context, userClient client.Client, object *unstructured.Unstructured) error {
		created := object.DeepCopy()
		created.Object["metadata"] = map[string]any{"namespace": object.GetNamespace(), "generateName": "created-"}
		return userClient.Create(ctx, created)
	},
	"its deletion, of one and of all": func(ctx context.Context, userClient client.Client, object *unstructured.Unstructured) error {
		err := userClient.Delete(ctx, object.DeepCopy(), client.GracePeriodSeconds(0), client.PropagationPolicy(metav1.DeletePropagationOrphan))
		Expect(err).To(Satisfy(apierrors.IsForbidden))
		return userClient.DeleteAllOf(ctx, object, client.InNamespace(object.GetNamespace()), client.MatchingLabels(object.GetLabels()))
	},
}

// refusedInStatus are writes of the status that change more than one condition, or other fields.
var refusedInStatus = map[string]write{
	"another condition, by its place": patchingStatus(types.JSONPatchType,
		`[{"op":"replace","path":"/status/conditions/2/status","value":"Unknown"}]`),
	"a condition twice": patchingStatus(types.JSONPatchType,
		`[{"op":"copy","from":"/status/conditions/2","path":"/status/conditions/0"}]`),
	"a condition of almost the name": patchingStatus(types.JSONPatchType,
		`[{"op":"add","path":"/status/conditions/-","value":{"type":"degraded","status":"True",`+someTime+`}}]`),
	"a condition of no name": patchingStatus(types.JSONPatchType,
		`[{"op":"add","path":"/status/conditions/-","value":{"status":"True",`+someTime+`}}]`),
	"a condition of the name null": patchingStatus(types.JSONPatchType,
		`[{"op":"add","path":"/status/conditions/-","value":{"type":null,"status":"True",`+someTime+`}}]`),
	"a field of another condition": patchingStatus(types.JSONPatchType,
		`[{"op":"add","path":"/status/conditions/2/observedGeneration","value":7}]`),
	"another field, by apply": patchingStatus(types.ApplyPatchType, `"status":{"namespace":"after"}`),
	"a strategic merge patch": patchingStatus(types.StrategicMergePatchType, `{"status":{"conditions":[]}}`),
	"managedFields, by apply": patchingStatus(types.ApplyPatchType, `"metadata":{"managedFields":[{"manager":"m"}]}`),
	"an object that is not there": func(ctx context.Context, userClient client.Client, object *unstructured.Unstructured) error {
		object.SetName("created")
		return patchingStatus(types.ApplyPatchType, `"status":{"conditions":[]}`)(ctx, userClient, object)
	},
	"a scale": func(ctx context.Context, userClient client.Client, object *unstructured.Unstructured) error {
		return userClient.SubResource("scale").Patch(ctx, object, merge(`{"spec":{"replicas":0}}`))
	},
	"a finalize": func(ctx context.Context, userClient client.Client, object *unstructured.Unstructured) error {
		return userClient.SubResource("finalize").Patch(ctx, object, merge(`{"metadata":{"finalizers":null}}`))
	},
}

// ignoredInStatus are writes of the status that the API server ignores.
var ignoredInStatus = map[string]write{
	"metadata, by JSON patch": patchingStatus(types.JSONPatchType,
		`[{"op":"remove","path":"/metadata/finalizers"},{"op":"remove","path":"/metadata/labels"}]`),
	"metadata, by apply": patchingStatus(types.ApplyPatchType,
		`"metadata":{"labels":{"label":"after"},"annotations":{"annotation":"after"},"finalizers":["example.com/after"],`+
			`"ownerReferences":`+someOwner+`}`),
	"what the API server sets": patchingStatus(types.MergePatchType,
		`{"metadata":{"uid":"after","generation":77,"creationTimestamp":"2020-01-01T00:00:00Z","deletionTimestamp":"2020-01-01T00:00:00Z"}}`),
	"other writers' fields": patchingStatus(types.MergePatchType, `{"metadata":{"managedFields":[{}]}}`),
	"other writers' fields, by their list": patchingStatus(types.JSONPatchType,
		`[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`),
	"an unknown field": patchingStatus(types.MergePatchType, `{"status":{"invented":1}}`),
	"all but the status, by update": func(ctx context.Context, userClient client.Client, object *unstructured.Unstructured) error {
		object.SetLabels(nil)
		object.SetAnnotations(nil)
		object.SetFinalizers(nil)
		object.SetManagedFields([]metav1.ManagedFieldsEntry{{}})
		object.Object["spec"] = map[string]any{"configs": []any{map[string]any{"group": "g", "resource": "r", "name": "n"}}}
		return userClient.Status().Update(ctx, object)
	},
}

// writersOf returns the writers that managedFields names.
func writersOf(object *unstructured.Unstructured) []string {
	var writers []string
	for _, entry := range object.GetManagedFields() {
		writers = append(writers, entry.Manager+" "+entry.Subresource)
	}
	return writers
}

// readObject returns the object as it is stored now.
func readObject(ctx context.Context, object *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	current := object.DeepCopy()
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(object), current)).To(Succeed())
	return current
}

var _ = Describe("Each other way to write", func() {
	for _, version := range versions {
		for _, part := range bothParts {
			It(fmt.Sprintf("a ManagedClusterAddOn through %s, for %s, changes nothing", version, part.user), func(ctx context.Context) {
				addOn, userClient := install(ctx, version, "cluster1"), clientOf(part.user)
				for name, attack := range besideStatus {
					Expect(attack(ctx, userClient, readObject(ctx, addOn))).To(Satisfy(apierrors.IsForbidden), name)
				}
				for name, attack := range refusedInStatus {
					Expect(attack(ctx, userClient, readObject(ctx, addOn))).NotTo(Succeed(), name)
					unchanged(ctx, addOn)
				}
				writersBefore := writersOf(addOn)
				for name, attack := range ignoredInStatus {
					Expect(attack(ctx, userClient, readObject(ctx, addOn))).To(Succeed(), name)
					unchanged(ctx, addOn)
					Expect(writersOf(readObject(ctx, addOn))).To(ContainElements(writersBefore), name)
				}
			})
		}
		It("a ClusterManagementAddOn through "+version+", for addon-manager, changes no more than managedFields", func(ctx context.Context) {
			addOn, userClient := register(ctx, version), clientOf(manager)
			for name, attack := range besideStatus {
				Expect(attack(ctx, userClient, readObject(ctx, addOn))).To(Satisfy(apierrors.IsForbidden), name)
			}
			// The list of field owners cannot be limited. An owner leaves the list when addon-manager writes its last field.
			Expect(userClient.Patch(ctx, addOn.DeepCopy(), merge(`{"metadata":{"managedFields":[{}]}}`))).To(Succeed())
			unchanged(ctx, addOn)
		})
	}
	for _, user := range []string{agentUser, formerUser, tokenUser} {
		It("ManagedClusterFacts, for "+user+", changes nothing", func(ctx context.Context) {
			facts, userClient := factsOf("cluster1"), clientOf(user)
			facts.SetName("")
			facts.SetGenerateName("facts-")
			facts.SetLabels(map[string]string{"label": "before"})
			Expect(admin.Create(ctx, facts)).To(Succeed())
			for name, attack := range besideStatus {
				Expect(attack(ctx, userClient, readObject(ctx, facts))).To(Satisfy(apierrors.IsForbidden), name)
			}
			unchanged(ctx, facts)
		})
	}
})
