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

// correctionTime is how long Available may contradict Degraded where the guard is in force. The guard does not change conditions
// that were written before its installation; addon-manager corrects them within a minute.
const correctionTime = 2 * time.Minute

// admissionRule is the guard, or the gate rule.
type admissionRule struct {
	title, name string
	files       embed.FS
	folder      string
	// violation describes add-ons in a state that the rule prevents where it is in force. It is empty without such add-ons.
	violation func(*hub) string
	absent    []result
}

var guard = admissionRule{
	title: "guard", name: names.Guard, files: manifests.Guard, folder: "guard",
	violation: func(h *hub) string {
		if addOns := h.contradictions(); addOns.count > 0 {
			return fmt.Sprintf("add-ons that are available although a Required dependency fails: %s", addOns)
		}
		return ""
	},
	absent: []result{{
		note, "No guard is installed: OCM's agent can set Available to True for a moment where a Required dependency fails",
		"helm upgrade --reuse-values --set guard=auto, or kubectl addon hub upgrade --set guard=auto",
	}},
}

// checkGuard checks that the guard is complete, unchanged and in force. Only addon-manager may send the dry run that proves that a
// guard is in force. The plugin looks for add-ons in a state that the guard prevents instead, because every user can read them.
func checkGuard(ctx context.Context, h *hub) []result { return guard.check(ctx, h) }

func (r *admissionRule) check(ctx context.Context, h *hub) []result {
	for _, form := range []struct{ version, kind string }{
		{"v1", "MutatingAdmissionPolicy"}, {"v1beta1", "MutatingAdmissionPolicy"}, {"v1", "MutatingWebhookConfiguration"},
	} {
		object, err := h.Object(ctx, admission, form.version, form.kind, client.ObjectKey{Name: r.name})
		if err != nil {
			return unreadable("The "+r.title, err)
		}
		if object == nil {
			continue
		}
		problem, err := r.problem(ctx, h, form.version, object)
		switch {
		case err != nil:
			return unreadable("The binding of the "+r.title, err)
		case problem != "":
			return []result{{failed, "The " + r.title + " is installed, as a " + form.kind + ", and not in force: " + problem, h.logs()}}
		}
		return []result{r.checkEffect(ctx, h, form.kind, object)}
	}
	return r.absent
}

// problem explains why the rule cannot be in force. It returns an empty string if the rule is complete.
func (r *admissionRule) problem(ctx context.Context, h *hub, version string, object *unstructured.Unstructured) (string, error) {
	if object.GetKind() == "MutatingWebhookConfiguration" {
		if !hasCA(object.Object) {
			return "the API server does not trust it, because its configuration has no CA", nil
		}
		return "", nil
	}
	binding, err := h.Object(ctx, admission, version, "MutatingAdmissionPolicyBinding", client.ObjectKey{Name: r.name})
	if err != nil {
		return "", err
	}
	if binding == nil {
		return "its MutatingAdmissionPolicyBinding is missing, so it applies to nothing", nil
	}
	if path := firstDifference(binding.Object["spec"], r.manifest("binding.yaml")["spec"], "spec"); path != "" {
		return "its MutatingAdmissionPolicyBinding was changed at " + path, nil
	}
	return "", nil
}

// checkEffect checks that no add-on contradicts the rule, and that the rule equals the manifest of this plugin.
func (r *admissionRule) checkEffect(ctx context.Context, h *hub, kind string, object *unstructured.Unstructured) result {
	installed := "The " + r.title + " is installed, as a " + kind
	if violation := r.violation(h); violation != "" {
		return result{failed, installed + ", and the API server does not act on it: " + violation, h.logs()}
	}
	file, field := "policy.yaml", "spec"
	if kind == "MutatingWebhookConfiguration" {
		file, field = "webhook.yaml", "webhooks"
	}
	if path := firstDifference(object.Object[field], r.manifest(file)[field], field); path != "" {
		if h.versionDiffers(ctx) {
			return result{
				note, installed + ". It is not the one of this plugin's version, which differs from addon-manager's",
				"docs/kubectl-addon.md#install",
			}
		}
		return result{failed, installed + ", and was changed at " + path + ". addon-manager restores it", h.logs()}
	}
	return result{passed, installed + ", and no add-on contradicts it", ""}
}

// contradictions counts add-ons that are available although a Required dependency fails. A guard in force prevents that.
func (h *hub) contradictions() tally {
	return h.tallyAddOns(func(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
		available, degraded := fleet.Available(addOn), fleet.Degraded(addOn)
		return available != nil && available.Status == metav1.ConditionTrue && availability.RequiredFails(degraded) &&
			h.now.Sub(degraded.LastTransitionTime.Time) > correctionTime && h.now.Sub(available.LastTransitionTime.Time) > correctionTime
	})
}

// manifest returns an object of the rule as this program ships it.
func (r *admissionRule) manifest(file string) map[string]any {
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

// firstDifference returns the path of the first field whose actual value is not the desired value. It returns an empty string if all
// desired fields are equal. Other fields do not count, because the API server adds defaults.
func firstDifference(actual, desired any, path string) string {
	switch desired := desired.(type) {
	case map[string]any:
		fields, _ := actual.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(desired)) {
			if difference := firstDifference(fields[name], desired[name], path+"."+name); difference != "" {
				return difference
			}
		}
	case []any:
		elements, _ := actual.([]any)
		if len(elements) != len(desired) {
			return path
		}
		for i := range desired {
			if difference := firstDifference(elements[i], desired[i], fmt.Sprintf("%s[%d]", path, i)); difference != "" {
				return difference
			}
		}
	default:
		if fmt.Sprint(actual) != fmt.Sprint(desired) { // The types of equal numbers can differ.
			return path
		}
	}
	return ""
}
