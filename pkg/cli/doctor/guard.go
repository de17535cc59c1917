package doctor

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/manifests"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

// corrected is how long an Available that contradicts Degraded may stand where the guard is
// in force: addon-manager corrects what was written before within a minute.
const corrected = 2 * time.Minute

// admissionRule is the guard, or the gate rule.
type admissionRule struct {
	title, name string
	files       embed.FS
	folder      string
	// contradicted says what a rule in force would not let happen; empty: nothing of it has.
	contradicted func(*hub) string
	absent       []result
}

var guard = admissionRule{
	title: "guard", name: names.Guard, files: manifests.Guard, folder: "guard",
	contradicted: func(h *hub) string {
		if all := h.contradicting(); all.count > 0 {
			return fmt.Sprintf("add-ons that are available although a Required dependency fails: %s", all)
		}
		return ""
	},
	absent: []result{{
		note, "No guard is installed: OCM's agent can set Available to True for a moment where a Required dependency fails",
		"helm upgrade --reuse-values --set guard=auto, or docs/coexistence.md for a hub that supports none",
	}},
}

// guarded checks that the guard is installed as a whole, as it ships, and in force. Only
// addon-manager may send the dry run that proves the last. What the guard keeps from
// happening is seen by all.
func guarded(ctx context.Context, h *hub) []result { return guard.check(ctx, h) }

func (r *admissionRule) check(ctx context.Context, h *hub) []result {
	for _, form := range []struct{ version, kind string }{
		{"v1", "MutatingAdmissionPolicy"}, {"v1beta1", "MutatingAdmissionPolicy"}, {"v1", "MutatingWebhookConfiguration"},
	} {
		object, err := h.get(ctx, admission, form.version, form.kind, client.ObjectKey{Name: r.name})
		if err != nil {
			return unread("The "+r.title, err)
		}
		if object == nil {
			continue
		}
		problem, err := r.problem(ctx, h, form.version, object)
		switch {
		case err != nil:
			return unread("The binding of the "+r.title, err)
		case problem != "":
			return []result{{unwell, "The " + r.title + " is installed, as a " + form.kind + ", and not in force: " + problem, h.logs()}}
		}
		return []result{r.inForce(ctx, h, form.kind, object)}
	}
	return r.absent
}

// problem is why the rule cannot be in force; empty: nothing is missing.
func (r *admissionRule) problem(ctx context.Context, h *hub, version string, object *unstructured.Unstructured) (string, error) {
	if object.GetKind() == "MutatingWebhookConfiguration" {
		if !hasCA(object.Object) {
			return "the API server does not trust it, because its configuration has no CA", nil
		}
		return "", nil
	}
	binding, err := h.get(ctx, admission, version, "MutatingAdmissionPolicyBinding", client.ObjectKey{Name: r.name})
	if err != nil {
		return "", err
	}
	if binding == nil {
		return "its MutatingAdmissionPolicyBinding is missing, so it applies to nothing", nil
	}
	if path := lacks(binding.Object["spec"], r.shipped("binding.yaml")["spec"], "spec"); path != "" {
		return "its MutatingAdmissionPolicyBinding was changed at " + path, nil
	}
	return "", nil
}

// inForce compares the rule with the one that this plugin ships, and the add-ons with
// what it does.
func (r *admissionRule) inForce(ctx context.Context, h *hub, kind string, object *unstructured.Unstructured) result {
	installed := "The " + r.title + " is installed, as a " + kind
	if contradicted := r.contradicted(h); contradicted != "" {
		return result{unwell, installed + ", and the API server does not act on it: " + contradicted, h.logs()}
	}
	file, field := "policy.yaml", "spec"
	if kind == "MutatingWebhookConfiguration" {
		file, field = "webhook.yaml", "webhooks"
	}
	if path := lacks(object.Object[field], r.shipped(file)[field], field); path != "" {
		if h.differs(ctx) {
			return result{
				note, installed + ". It is not the one of this plugin's version, which differs from addon-manager's",
				"docs/kubectl-addon.md#install",
			}
		}
		return result{unwell, installed + ", and was changed at " + path + ". addon-manager restores it", h.logs()}
	}
	return result{well, installed + ", and no add-on contradicts it", ""}
}

// contradicting are add-ons that a guard in force would not let be available.
func (h *hub) contradicting() such {
	return h.addOns(func(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
		available, degraded := fleet.Available(addOn), fleet.Degraded(addOn)
		return available != nil && available.Status == metav1.ConditionTrue && availability.RequiredFails(degraded) &&
			h.now.Sub(degraded.LastTransitionTime.Time) > corrected && h.now.Sub(available.LastTransitionTime.Time) > corrected
	})
}

// shipped is an object of the rule that this program ships.
func (r *admissionRule) shipped(file string) map[string]any {
	var object map[string]any
	content, err := r.files.ReadFile(r.folder + "/" + file)
	if err == nil {
		err = yaml.Unmarshal(content, &object)
	}
	if err != nil {
		panic(err) // a test reads them all
	}
	return object
}

// lacks is the path of the first field that is not as wanted; empty: none. What the API
// server adds by default does not count.
func lacks(is, wanted any, path string) string {
	switch wanted := wanted.(type) {
	case map[string]any:
		there, _ := is.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			if found := lacks(there[name], wanted[name], path+"."+name); found != "" {
				return found
			}
		}
	case []any:
		there, _ := is.([]any)
		if len(there) != len(wanted) {
			return path
		}
		for i := range wanted {
			if found := lacks(there[i], wanted[i], fmt.Sprintf("%s[%d]", path, i)); found != "" {
				return found
			}
		}
	default:
		if fmt.Sprint(is) != fmt.Sprint(wanted) { // a number is read as one type or another
			return path
		}
	}
	return ""
}
